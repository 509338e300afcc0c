"""Messages to send, and the digests that the real service answered with: recorded, never computed here."""

from typing import Any


def string(value: str, data_type: str = "String") -> dict[str, Any]:
    return {"DataType": data_type, "StringValue": value}


def binary(value: bytes, data_type: str = "Binary") -> dict[str, Any]:
    return {"DataType": data_type, "BinaryValue": value}


def system(trace: str) -> dict[str, Any]:
    return {"AWSTraceHeader": string(trace)}


ILLEGAL = ["\x00", "\x07", "\x08", "\x0b", "\x13", "\x1f", "\ufffe", "\uffff"]
"""Characters that no body and no attribute may contain."""

GREETING = {"General": string("Kenobi"), "Hello": string("There"), "Help.Me": string("Me")}
MD5_OF_GREETING = {
    ("General", "Hello", "Help.Me"): "4c360f3fdafd970e05fae2f149d997f5",
    ("General", "Hello"): "fca026605781cb4126a1e9044df24232",
    ("Hello",): "a311262e065454b75da111d535b8dacd",
    ("Hello", "Help.Me"): "83fee93c1bcd8b9a5a923ffacdc636c7",
}

_ORDINALS = (
    "d21ae90c49061e927f57df5f5d72be1f", "62e85e0ab0359d3609fc39507217ff91", "d1638e3e5ea26f57e9f2d44f9b3db7ba",
    "769099aeb86223091a13d3a75e1b6aa8", "c46b3243dde7133be8d043f19e90b209", "cc9026a176c869e18921504a9078ff6b",
)  # fmt: skip

MD5_OF_ATTRIBUTES: list[tuple[dict[str, Any], str]] = [
    *(({name: GREETING[name] for name in names}, digest) for names, digest in MD5_OF_GREETING.items()),
    ({"Foo": string("Bar")}, "ae7155c6026991b6d54b11589678bf9c"),
    ({"MyAttribute": string("foobar")}, "adb59cd4678ea5a855436b949cd07ab6"),
    ({"k": string("x")}, "a45daa70926828a2f0a1db3418e6feb4"),
    ({"timestamp": string("1493147359900", "Number")}, "235c5c510d26fb653d073faed50ae77c"),
    (
        {"attr1": binary(b"traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01")},
        "8cbe4db156db8a94db8b801b7addb984",
    ),
    ({"test-key": string("test-value")}, "befa18540a897f7d022bf07057754a03"),
    (
        {"test-key": string("test-value"), "test-key-alt": string("test-value-alt")},
        "2256c3b617e2b4b3ae4f2d455dcf54d0",
    ),
    *(
        ({"category": string("test"), "ordinal": string(str(number), "Number")}, digest)
        for number, digest in enumerate(_ORDINALS, 1)
    ),
    ({"SOME_Valid.attribute-Name": string("1493147359900", "Number")}, "36655e7e9d7c0e8479fa3f3f42247ae7"),
    (
        {
            "id": string("2018fc74-4f77-1a5a-1be0-c2d037d5052b"),
            "contentType": string("application/json"),
            "timestamp": string("1602845432024", "Number.java.lang.Long"),
        },
        "b12289320bb6e494b18b645ef562b4a9",
    ),
    ({"data1": string("1", "Number"), "data2": string("2", "Number")}, "b53b5acf24e7fd9567705bd8027b1c76"),
    ({"data1": string("1", "Number")}, "cc7f712733e0ad2cc9f1fefbd28bab9c"),
]

MD5_OF_TRACE = {
    "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1": "5ae4d5d7636402d80f4eb6d213245a88",
    "some-value": "a3263a0cbc09023ccd431feb61438309",
}

MD5_OF_BODY = {
    "msg": "6e2baaf3b97dbeef01c0043275f9a0e7",
    "message": "78e731027d8fd50ed642340b7c9a63b3",
    "message-1": "3d6b824fd8c1520e9a047d21fee6fb1f",
    "message-body-1": "19c9e282d65f9733bc6b35d50062c7ee",
    "a" * 2040: "f44facf5a7ee0af446ecf3e0f854441e",
    "a" * 1024: "c9a34cfc85d982698c6ac89f76071abd",
    "a": "0cc175b9c0f1b6a831c399e269772661",
    "test": "098f6bcd4621d373cade4e832627b4f6",
    "foobar": "3858f62230ac3c915f300c664312c63f",
    '{"foo": "bar"}': "94232c5b8fc9272f6f73a1e36eb68fcf",
    "Using name instead of URL": "86a83f96652a1bfad3891e7d523750cb",
    "\ufffd" * 4: "4906fc8bbfeecb5625100a7b6edf9f7a",
    '{"message_index":1}': "4504dd781f625d681c31cda87e260702",
    '{"message_index': "4775179c76b547146c16db868a6848a7",
    '{"messageIndex":1}': "28382c9c1f9cd1e9a32bf0f249698b6e",
}
