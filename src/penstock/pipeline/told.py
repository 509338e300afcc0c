"""What goes wrong and is somebody's to mend: said in one line to whoever started the job."""


class Told(Exception):
    """The message is for the person who started the job, and a trace would not help them."""
