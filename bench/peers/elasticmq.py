"""ElasticMQ (Scala, on the JVM) from Maven Central, in memory and with its H2 message storage.

It decides the version and the configuration. The JVM's heap and the log level are the defaults of the JVM and of
ElasticMQ, which logs no requests.
"""

import functools
import subprocess
from pathlib import Path

from .peer import Peer, installing, launch, need, run

VERSION = "1.7.1"
APT_JAVA = "apt-get install default-jre-headless"
APT_MAVEN = "apt-get install maven"

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>peers</groupId><artifactId>elasticmq</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.elasticmq</groupId><artifactId>elasticmq-server_2.13</artifactId><version>{VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""

CONFIGURATION = """include classpath("application.conf")
node-address {{ host = "127.0.0.1", port = {port} }}
rest-sqs {{ bind-hostname = "127.0.0.1", bind-port = {port} }}
aws {{ region = "us-east-1", accountId = "000000000000" }}
"""
IN_H2 = """messages-storage {{ enabled = true, uri = "jdbc:h2:{data}/messages" }}
"""


def install(cache: Path) -> None:
    need("java", APT_JAVA)
    folder = _folder(cache)
    with installing(folder) as wanted:
        if wanted:
            (folder / "pom.xml").write_text(POM)
            maven = need("mvn", APT_MAVEN)
            run([maven, "--batch-mode", "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'lib'}"], folder)


def start(configuration: str, cache: Path, data: Path, port: int) -> "subprocess.Popen[bytes]":
    data.mkdir(parents=True, exist_ok=True)
    settings = data / "elasticmq.conf"
    settings.write_text(configuration.format(port=port, data=data))
    java = need("java", APT_JAVA)
    classes = f"{_folder(cache) / 'lib'}/*"
    return launch([java, f"-Dconfig.file={settings}", "-cp", classes, "org.elasticmq.server.Main"], data)


def _folder(cache: Path) -> Path:
    return cache / f"elasticmq-{VERSION}"


IN_MEMORY = Peer(
    name="elasticmq",
    title="ElasticMQ, in memory",
    durable=False,
    signs=False,
    install=install,
    start=functools.partial(start, CONFIGURATION),
    note="default heap of the JVM, strict limits, no request log",
    version=VERSION,
)
WITH_H2 = Peer(
    name="elasticmq-h2",
    title="ElasticMQ, H2 message storage",
    durable=True,
    signs=False,
    install=install,
    start=functools.partial(start, CONFIGURATION + IN_H2),
    note="as elasticmq, with messages in an H2 database file; H2 writes some time after the reply",
    version=VERSION,
)
