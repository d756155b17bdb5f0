"""The lab: games and experiments with any world, without a house; and the experiments of Statecraft."""
