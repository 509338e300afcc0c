"""Settings: where they come from, which of them wins, and what is said of those that are wrong."""

from dataclasses import fields, replace
from ipaddress import ip_network
from pathlib import Path

import pytest

from penstock.config import Address, ConfigError, Settings, database_path, load
from penstock.config.limits import MEANINGS
from penstock.config.table import rows, shown
from penstock.core.limits import Limits

SECRET = "0123456789abcdef"


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings(toml: str = "", **environ: str) -> Settings:
    Path("penstock.toml").write_text(toml)
    return load({}, environ).settings


def problems(toml: str = "", **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        settings(toml, **environ)
    return caught.value.problems


def test_without_anything_given_every_setting_has_its_documented_default() -> None:
    loaded = load({}, {})
    assert loaded.settings == Settings()
    assert loaded.settings.listen == Address("127.0.0.1", 9324)
    assert loaded.settings.data == Path("data")
    assert loaded.settings.store == "sqlite:///data/penstock.db"
    assert loaded.settings.regions == {"us-east-1"}
    assert loaded.settings.limits == Limits()
    assert set(loaded.origin.values()) == {"default"}


def test_a_flag_wins_over_the_environment_that_over_the_file_and_that_over_the_default() -> None:
    Path("penstock.toml").write_text('region = "file-1"\nauth = "off"\nlog_level = "error"')
    environ = {"PENSTOCK_REGION": "environment-1", "PENSTOCK_AUTH": "on"}
    loaded = load({"region": "flag-1"}, environ)
    assert (loaded.settings.region, loaded.settings.auth, loaded.settings.log_level) == ("flag-1", "on", "error")
    assert {name: loaded.origin[name] for name in ("region", "auth", "log_level", "data")} == {
        "region": "flag --region",
        "auth": "environment PENSTOCK_AUTH",
        "log_level": "penstock.toml",
        "data": "default",
    }


def test_every_limit_is_a_setting_with_a_meaning_and_amazon_s_value() -> None:
    assert [limit.name for limit in fields(Limits)] == list(MEANINGS)
    assert all(rows()[limit.name].default == str(limit.default) for limit in fields(Limits))
    assert settings("max_tags = 0", PENSTOCK_MAX_DELAY_SECONDS="1800").limits == replace(
        Limits(), max_tags=0, max_delay_seconds=1800
    )


@pytest.mark.parametrize("name", [row.name for row in rows().values()])
def test_every_default_can_be_given_in_every_place(name: str) -> None:
    row = rows()[name]
    value = shown(Settings(), row)
    assert settings(f"{name} = '{row.default}'") == Settings()
    assert settings(**{row.variable: value}) == Settings()
    assert load({name: value}, {}).settings == Settings()


@pytest.mark.parametrize(
    ("text", "address", "loopback"),
    [
        ("0.0.0.0:80", Address("0.0.0.0", 80), False),
        ("[::1]:0", Address("::1", 0), True),
        ("localhost:9324", Address("localhost", 9324), True),
        ("queues.example.org:443", Address("queues.example.org", 443), False),
        ("[::]:1", Address("::", 1), False),
    ],
)
def test_an_address_is_read_and_written_alike(text: str, address: Address, loopback: bool) -> None:
    read = settings("allow_plaintext = true", PENSTOCK_LISTEN=text).listen
    assert (read, str(read), read.is_loopback) == (address, text, loopback)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("listen", text) for text in ("9324", ":9324", "::1:9324", "a:65536", "[::g]:1", "a b:1", "")),
        *(("data", text) for text in ("", "a\0b", "caf\udce9")),
        *(("store", text) for text in ("oracle://x", "data/penstock.db", "sqlite://", "sqlite:///", "sqlite:///a%00b")),
        ("store", "sqlite://[/a"),
        *(("region", text) for text in ("", "US", "a b")),
        ("regions", "eu-west-1"),
        ("regions", "us-east-1,NOPE"),
        ("auth", "maybe"),
        ("allow_open", "yes"),
        *(
            ("public_url", text)
            for text in ("queues", "ftp://a", "http://a/b", "http://a?b", "http://u@a", "http://a:x")
        ),
        *(("root_account", text) for text in ("1", "12345678901a", "٠٠٠٠٠٠٠٠٠٠٠٠")),
        ("root_access_key", "short"),
        ("recreate_wait_seconds", "-1"),
        ("purge_wait_seconds", "1.5"),
        ("max_connections", "0"),
        ("max_in_flight", "many"),
        ("trusted_proxies", "10.0.0.1/8"),
        ("metrics_from", "everyone"),
        *(("tls_key", text) for text in ("missing.pem", "a" * 300, "a\0b")),
        ("log_format", "xml"),
        ("log_level", "loud"),
    ],
)
def test_a_wrong_value_is_named_with_its_setting_and_its_origin(name: str, value: str) -> None:
    variable = f"PENSTOCK_{name.upper()}"
    found = problems(**{variable: value})
    assert any(f'{name} "{value}" (environment {variable})' in problem for problem in found)


def test_all_mistakes_are_reported_at_once() -> None:
    found = problems('auth = "of"\nregoin = "eu-west-1"\ndata = 1.5', PENSTOCK_LISTEN="here", PENSTOCK_LISTN="there")
    assert len(found) == 5
    assert 'auth "of" (penstock.toml): give one of on, off' in found
    assert "regoin (penstock.toml): there is no such setting; did you mean region?" in found
    assert "PENSTOCK_LISTN (environment): there is no such setting; did you mean PENSTOCK_LISTEN?" in found


def test_a_secret_is_never_repeated() -> None:
    found = problems(PENSTOCK_ROOT_ACCESS_KEY="A" * 16, PENSTOCK_ROOT_SECRET_KEY="hush")
    assert found == ["root_secret_key (environment PENSTOCK_ROOT_SECRET_KEY): give at least 16 printable characters"]
    right = settings(PENSTOCK_ROOT_ACCESS_KEY="A" * 16, PENSTOCK_ROOT_SECRET_KEY=SECRET)
    assert right.root_secret_key == SECRET
    assert SECRET not in repr(right)
    assert shown(right, rows()["root_secret_key"]) == "(hidden)"


@pytest.mark.parametrize("name", ["root_access_key", "root_secret_key", "tls_certificate", "tls_key"])
def test_what_comes_in_pairs_is_given_as_a_pair(name: str) -> None:
    Path("file.pem").touch()
    value = "file.pem" if name.startswith("tls") else SECRET
    assert any("give both or neither" in problem for problem in problems(f'{name} = "{value}"'))


def test_tls_files_that_are_there_are_accepted() -> None:
    Path("file.pem").touch()
    assert settings('tls_certificate = "file.pem"\ntls_key = "file.pem"').tls_key == Path("file.pem")


def test_authentication_is_off_only_where_nobody_else_can_reach_it_unless_one_insists() -> None:
    assert settings('auth = "off"').auth == "off"
    (problem,) = problems('auth = "off"\nlisten = "0.0.0.0:9324"')
    assert "allow_open" in problem
    assert settings('auth = "off"\nlisten = "0.0.0.0:9324"\nallow_open = true').allow_open


@pytest.mark.parametrize("listen", ["0.0.0.0:9324", "10.0.7.5:9324", "[::]:9324", "queues.example.org:9324"])
def test_plain_http_is_for_this_machine_alone_unless_one_insists(listen: str) -> None:
    Path("file.pem").touch()
    (problem,) = problems(f'listen = "{listen}"')
    for name in ("listen", "tls_certificate", "tls_key", "trusted_proxies", "allow_plaintext"):
        assert name in problem
    for more in (
        "allow_plaintext = true",
        'trusted_proxies = "10.0.0.1/32"',
        'tls_certificate = "file.pem"\ntls_key = "file.pem"',
    ):
        assert settings(f'listen = "{listen}"\n{more}').is_plain_to_others is ("allow" in more)


@pytest.mark.parametrize("listen", ["127.0.0.1:9324", "127.0.0.53:1", "[::1]:9324", "localhost:9324"])
def test_plain_http_needs_no_insisting_on_this_machine(listen: str) -> None:
    assert not settings(f'listen = "{listen}"').is_plain_to_others


def test_regions_are_a_list_or_any() -> None:
    assert settings('regions = ["us-east-1", "eu-west-1"]').regions == {"us-east-1", "eu-west-1"}
    assert settings(PENSTOCK_REGION="eu-west-1", PENSTOCK_REGIONS="eu-west-1, us-east-1").region == "eu-west-1"
    assert settings('regions = "*"').regions is None
    assert settings('region = "eu-west-1"').regions == {"eu-west-1"}


def test_networks_are_a_list_in_either_form() -> None:
    expected = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
    assert settings('trusted_proxies = ["10.0.0.0/8", "fd00::/8"]').trusted_proxies == expected
    assert settings(PENSTOCK_TRUSTED_PROXIES="10.0.0.0/8,fd00::/8").trusted_proxies == expected


def test_the_store_follows_the_data_directory_unless_it_is_named() -> None:
    assert database_path(settings(PENSTOCK_DATA="/var/lib/a b#c")) == Path("/var/lib/a b#c/penstock.db")
    assert database_path(settings(PENSTOCK_STORE="sqlite:///other.db")) == Path("other.db")
    assert database_path(settings(PENSTOCK_STORE="memory://")) is None


def test_a_public_url_has_no_slash_at_its_end() -> None:
    assert settings(PENSTOCK_PUBLIC_URL="https://queues.example.org/").public_url == "https://queues.example.org"


def test_a_least_is_not_more_than_its_most() -> None:
    assert "the least is more" in problems("min_maximum_message_size = 10\nmax_maximum_message_size = 9")[0]


def test_the_file_is_the_usual_one_or_one_that_is_named_and_exists() -> None:
    Path("other.toml").write_text('region = "other-1"')
    Path("penstock.toml").write_text('region = "usual-1"')
    assert load({}, {}).settings.region == "usual-1"
    assert load({}, {"PENSTOCK_CONFIG": "other.toml"}).settings.region == "other-1"
    assert load({}, {"PENSTOCK_CONFIG": "none.toml"}, Path("other.toml")).origin["region"] == "other.toml"
    with pytest.raises(ConfigError, match=r"none\.toml: it cannot be read"):
        load({}, {"PENSTOCK_CONFIG": "none.toml"})


def test_a_file_that_is_not_toml_is_one_mistake_among_others() -> None:
    found = problems("listen = ", PENSTOCK_AUTH="x")
    assert [problem.split(":")[0] for problem in found] == ["penstock.toml", 'auth "x" (environment PENSTOCK_AUTH)']


def test_variables_that_kubernetes_makes_of_a_service_called_penstock_are_no_mistake() -> None:
    settings(PENSTOCK_SERVICE_HOST="10.0.0.1", PENSTOCK_PORT="tcp://10.0.0.1", PENSTOCK_PORT_9324_TCP_ADDR="10.0.0.1")
