"""Workers who are right with one probability, whatever the class."""
