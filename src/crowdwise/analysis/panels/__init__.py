"""How good judges are, alone and as a panel: `judges`, and what it is made of."""
