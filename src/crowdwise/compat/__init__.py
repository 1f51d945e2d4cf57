"""The interfaces of other libraries over the methods of crowdwise, so that their users change one import."""
