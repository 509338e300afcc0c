"""Operations, one coroutine each, and the pipeline that brings a request to them."""
