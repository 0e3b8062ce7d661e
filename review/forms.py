"""The form of everything that is written down or travels: the fields that are named and no others, unchangeable."""

from pydantic import BaseModel, ConfigDict


class Form(BaseModel):
    """A record; an unknown field is refused, because it could say what nobody reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)
