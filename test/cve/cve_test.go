package cve

import (
	"testing"
)

// TestAdvisories has one case for each advisory that is not about Blueprints.
func TestAdvisories(t *testing.T) {
	cases := map[string]struct {
		reason string
		test   func(t *testing.T)
	}{
		"CVE-2024-21661": {reason: "Renderings at once share no map that one of them changes.", test: renderAtOnce},
		"CVE-2024-32476": {reason: "An expression of a check takes neither all memory nor all time.", test: expressionBombs},
		"CVE-2026-44938": {
			reason: "A tenant does not change the pod security of a namespace, and the Job of a check keeps the strictest level.",
			test:   podRestrictions,
		},
		"CVE-2022-24817": {reason: "A kubeconfig runs no program and reads no file of the provider.", test: kubeconfigReaches},
		"CVE-2022-39272": {reason: "A duration that cannot be read is an error of its own object.", test: durationFields},
		"CVE-2024-31216": {reason: "An error does not show the password of a URL.", test: passwordInURL},
		"CVE-2022-31105": {
			reason: "No code skips the verification of a certificate, unless a flag of the administrator allows it for kubeconfigs.",
			test:   verification,
		},
		"CVE-2023-23947": {reason: "No field of an object holds a credential: Secrets do.", test: credentialsInObjects},
		"CVE-2023-25163": {reason: "No field of an object holds a credential, so that none is in an error about it.", test: credentialsInObjects},
		"CVE-2025-55190": {reason: "No field of an object that tenants read holds a credential.", test: credentialsInObjects},
		"CVE-2023-40029": {reason: "A Secret with its last applied configuration is refused, and not repeated.", test: lastApplied},
		"CVE-2025-23216": {reason: "An error about a Secret repeats no value of the Secret.", test: secretInError},
		"CVE-2026-42880": {reason: "The view of a tree repeats no value of a Secret.", test: secretInView},
		"CVE-2026-45737": {reason: "The view of a tree repeats no stringData either.", test: secretInView},
		"CVE-2024-53351": {reason: "The role of the provider reads no Secret and has no wildcard verb.", test: leastPrivilege},
		"CVE-2024-52284": {reason: "A user who may not read Secrets does not read GitDeliveries, which hold the delivered files.", test: secretsInDeliveries},
		"CVE-2026-44937": {reason: "A value in a regular expression of a query is matched character by character.", test: regexInjection},
		"CVE-2023-27483": {reason: "An intent with depth, with length or with a great index is refused soon.", test: wantIntentRefused},
		"CVE-2022-24730": {
			reason: "A Blueprint reads nothing outside of itself.",
			test:   wantRefused("resources: [../../elsewhere]", "is not a file or a folder of the Blueprint"),
		},
		"CVE-2021-32690": {
			reason: "No chart is fetched, so that no credential goes to another domain.",
			test:   wantRefused("helmCharts: [{name: x, repo: 'https://example.org'}]", "is not allowed in a Blueprint"),
		},
		"CVE-2025-32386": {reason: "A chart in a kustomization is not unpacked.", test: wantRefused("helmCharts: [{name: x}]", "is not allowed in a Blueprint")},
		"CVE-2026-35204": {reason: "No plugin of Helm is run.", test: wantRefused("helmGlobals: {chartHome: ../..}", "is not allowed in a Blueprint")},
		"CVE-2026-35205": {
			reason: "No chart without provenance is taken.",
			test:   wantRefused("helmCharts: [{name: x, version: 1.0.0}]", "is not allowed in a Blueprint"),
		},
		"CVE-2026-35206": {reason: "No name of a chart is a path.", test: wantRefused("helmCharts: [{name: ../x}]", "is not allowed in a Blueprint")},
		"CVE-2023-49568": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.11.0")},
		"CVE-2023-49569": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.11.0")},
		"CVE-2025-21613": {reason: "The version of the Git library has the fix, and no URL names a file.", test: wantFileURLRefused},
		"CVE-2025-21614": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.13.0")},
		"CVE-2026-25934": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.16.5")},
		"CVE-2026-33762": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.17.1")},
		"CVE-2026-34165": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.17.1")},
		"CVE-2026-41506": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.18.0")},
		"CVE-2026-45022": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.19.0")},
		"CVE-2026-45570": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.19.1")},
		"CVE-2026-45571": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.19.1")},

		"GHSA-w5pp-99ch-qj29": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.19.1")},

		"CVE-2026-71556": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.19.2")},
		"CVE-2026-71557": {reason: "The version of the Git library has the fix.", test: requireVersion("github.com/go-git/go-git/v5", "5.19.2")},
		"CVE-2026-44973": {reason: "The library for files of Git is one in which this is fixed.", test: requireVersion("github.com/go-git/go-billy/v5", "5.9.0")},
		"CVE-2026-44740": {reason: "The library for files of Git is one in which this is fixed.", test: requireVersion("github.com/go-git/go-billy/v5", "5.9.0")},
	}
	for id, tc := range cases {
		t.Run(id, func(t *testing.T) {
			t.Log(tc.reason)
			tc.test(t)
		})
	}
}
