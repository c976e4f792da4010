"""Results of checks as JSON, JUnit and Prometheus text, read back by readers that are not ours."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from junitparser import Failure, JUnitXml, Skipped
from prometheus_client.parser import text_string_to_metric_families

from rollout.checks.model import CheckResult, HostResults
from rollout.report.junit import junit
from rollout.report.prometheus import prometheus
from rollout.report.results import checks_from_json, results_to_json

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOSTILE = 'db"1\\\n<script>alert(1)</script>\x1b[31m\x00'
RESULTS = (
    CheckResult("version_running", "pass", "11.8.10", "11.8.10", "$ SELECT VERSION()\n11.8.10-MariaDB"),
    CheckResult("allocator_mapped", "fail", "jemalloc", HOSTILE, HOSTILE, "preload_secure_execution"),
    CheckResult("unattended_upgrades", "warn", "off", "on"),
    CheckResult("wsrep", "skip", "Synced", "no Galera node"),
)
HOSTS = (HostResults("db1", RESULTS), HostResults(HOSTILE, RESULTS[:1]))

# The elements and attributes of JUnit files as Jenkins, GitLab and pytest read and write them.
SCHEMA = xmlschema.XMLSchema(
    """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:attributeGroup name="counts">
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="time" type="xs:decimal" use="required"/>
  </xs:attributeGroup>
  <xs:complexType name="note"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="message" type="xs:string"/><xs:attribute name="type" type="xs:string"/>
  </xs:extension></xs:simpleContent></xs:complexType>
  <xs:complexType name="case"><xs:choice minOccurs="0">
      <xs:element name="failure" type="note"/><xs:element name="skipped" type="note"/>
      <xs:element name="system-out" type="xs:string"/>
    </xs:choice>
    <xs:attribute name="classname" type="xs:string" use="required"/>
    <xs:attribute name="name" type="xs:NMTOKEN" use="required"/>
    <xs:attribute name="time" type="xs:decimal" use="required"/>
  </xs:complexType>
  <xs:complexType name="suite">
    <xs:sequence><xs:element name="testcase" type="case" maxOccurs="unbounded"/></xs:sequence>
    <xs:attributeGroup ref="counts"/>
    <xs:attribute name="skipped" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="timestamp" type="xs:dateTime" use="required"/>
    <xs:attribute name="hostname" type="xs:string" use="required"/>
  </xs:complexType>
  <xs:element name="testsuites"><xs:complexType>
    <xs:sequence><xs:element name="testsuite" type="suite" maxOccurs="unbounded"/></xs:sequence>
    <xs:attributeGroup ref="counts"/>
  </xs:complexType></xs:element>
</xs:schema>"""
)


def test_json_holds_every_field_and_comes_back() -> None:
    """What `verify --json` prints turns into the same results again."""
    document = json.loads(json.dumps(results_to_json(HOSTS)))
    assert document["schema"] == 1
    assert [host["status"] for host in document["hosts"]] == ["fail", "pass"]
    assert set(document["hosts"][0]["checks"][0]) >= {"id", "status", "expected", "found", "evidence"}
    assert checks_from_json(document["hosts"][0]["checks"]) == RESULTS


def test_junit_fits_the_schema_and_a_foreign_reader_counts_the_same() -> None:
    """Hostile strings included: control characters that XML cannot hold are replaced, markup is escaped."""
    document = junit(HOSTS, NOON, seconds=1.5)
    SCHEMA.validate(document.decode())
    suites = JUnitXml.fromstring(document)
    assert (suites.tests, suites.failures) == (5, 1)
    first = next(iter(suites))
    kinds = [type(result) for case in first for result in case.result]
    assert kinds == [Failure, Skipped]
    failure = ET.fromstring(document).find(".//failure")  # noqa: S314 - the document is ours
    assert failure is not None
    assert "<script>alert(1)</script>" in failure.attrib["message"]
    assert failure.attrib["type"] == "preload_secure_execution"
    assert b"<script" not in document


def test_the_schema_refuses_what_is_no_junit_file() -> None:
    """The validator of these tests can fail."""
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        SCHEMA.validate(junit(HOSTS, NOON).decode().replace("failures=", "faults="))


def test_prometheus_text_is_read_by_its_own_parser() -> None:
    """One sample a check and status, 1 for the one it has; labels come back as they were."""
    families = {family.name: family for family in text_string_to_metric_families(prometheus(HOSTS, NOON))}
    samples = families["rollout_check_status"].samples
    assert len(samples) == 4 * 5
    ones = [(s.labels["host"], s.labels["check"], s.labels["status"]) for s in samples if s.value == 1]
    assert ones == [(host.name, result.id, result.status) for host in HOSTS for result in host.results]
    assert families["rollout_verify_time_seconds"].samples[0].value == NOON.timestamp()


def test_a_host_without_results_is_skipped_and_not_passed() -> None:
    """Nothing checked is no success."""
    assert replace(HOSTS[0], results=()).status == "skip"
