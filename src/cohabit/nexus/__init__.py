"""The Nexus: agents that outlive their bodies and games. See docs/nexus.md."""
