"""Tokens of code hosts, package registries and build services."""

from __future__ import annotations

from truepenny.text.rule import Rule

from .example import digest, word

_B = r"(?<![A-Za-z0-9])"
_E = r"(?![A-Za-z0-9])"

RULES = (
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        rf"{_B}(?:gh[pousr]_[A-Za-z0-9]{{36,}}|github_pat_[A-Za-z0-9_]{{22,}})",
        ("ghp_" + word(36), "https://x:ghs_" + word(36) + "@host", "github_pat_" + word(82)),
        ("ghp_short", "laughp_" + word(36)),
    ),
    Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-"),
        rf"{_B}gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_.=-]{{20,}}",
        ("glpat-" + word(20), "glagent-" + word(50)),
        ("glpat-name",),
    ),
    Rule(
        "bitbucket-token",
        ("ATBB", "ATATT3", "ATCTT3"),
        rf"{_B}(?:ATBB[A-Za-z0-9]{{24,}}|AT[AC]TT3[A-Za-z0-9_=-]{{60,}})",
        ("ATBB" + word(32), "ATATT3" + word(180)),
        ("ATBBx",),
    ),
    Rule(
        "npm-token",
        ("npm_",),
        rf"{_B}npm_[A-Za-z0-9]{{36}}{_E}",
        ("//registry.example/:x npm_" + word(36),),
        ("npm_config_cache_directory_of_the_build", "npm_lifecycle_event"),
    ),
    Rule(
        "pypi-token",
        ("pypi-AgE",),
        rf"{_B}pypi-AgE[A-Za-z0-9_-]{{50,}}",
        ("pypi-AgEIcHlwaS5vcmc" + word(80),),
        ("pypi-AgEx",),
    ),
    Rule(
        "rubygems-key",
        ("rubygems_",),
        rf"{_B}rubygems_[a-f0-9]{{48}}{_E}",
        ("rubygems_" + digest(48),),
        ("rubygems_version",),
    ),
    Rule(
        "nuget-key",
        ("oy2",),
        rf"{_B}oy2[a-z0-9]{{43}}{_E}",
        ("oy2" + word(43).lower(),),
        ("oy2x",),
    ),
    Rule(
        "docker-hub-token",
        ("dckr_pat_", "dckr_oat_"),
        rf"{_B}dckr_[po]at_[A-Za-z0-9_-]{{20,}}",
        ("dckr_pat_" + word(27),),
        ("dckr_pat_x",),
    ),
    Rule(
        "artifactory-key",
        ("AKCp",),
        rf"{_B}AKCp[A-Za-z0-9]{{65,}}{_E}",
        ("AKCp" + word(69),),
        ("AKCpx",),
    ),
    Rule(
        "circleci-token",
        ("CCIPAT_", "CCIPRJ_"),
        rf"{_B}CCIP(?:AT|RJ)_[A-Za-z0-9_]{{20,}}",
        ("CCIPAT_" + word(22) + "_" + digest(40),),
        ("CCIPAT_x",),
    ),
    Rule(
        "buildkite-token",
        ("bkua_",),
        rf"{_B}bkua_[a-f0-9]{{40}}{_E}",
        ("bkua_" + digest(40),),
        ("bkua_x",),
    ),
    Rule(
        "postman-key",
        ("PMAK-",),
        rf"{_B}PMAK-[a-f0-9]{{24}}-[a-f0-9]{{34}}{_E}",
        ("PMAK-" + digest(24) + "-" + digest(34),),
        ("PMAK-x",),
    ),
    Rule(
        "linear-key",
        ("lin_api_", "lin_oauth_"),
        rf"{_B}lin_(?:api|oauth)_[A-Za-z0-9]{{32,}}",
        ("lin_api_" + word(40),),
        ("lin_api_x",),
    ),
    Rule(
        "sentry-token",
        ("sntrys_", "sntryu_"),
        rf"{_B}sntry[su]_[A-Za-z0-9+/=_-]{{40,}}",
        ("sntrys_" + word(80),),
        ("sntrys_x",),
    ),
)
