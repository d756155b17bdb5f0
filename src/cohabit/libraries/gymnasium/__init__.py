"""MiniGrid, BabyAI and the toy worlds of Gymnasium, and environments of one's own, as worlds."""
