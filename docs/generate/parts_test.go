package main

import (
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	all, err := renderParts(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, say := range map[string]string{
		"phases of IntentDeployment":   "| the spec cannot be compiled | `Failed` | `Failed` |",
		"changes of IntentDeployment":  "| `Failed` | `RollingBack` |",
		"phases of WorkloadCluster":    "| the provider has not observed the cluster yet | `Pending` |",
		"phases of Application":        "| the revision with the image was rolled back | `Degraded` |",
		"changes of Application":       "| `Running` | `Deploying`, `Degraded` |",
		"phases of Bundle":             "| a package failed, or cannot be removed | `Failed` |",
		"changes of Bundle":            "| `Succeeded` | `Degraded`, `Deploying` |",
		"changes of WorkloadCluster":   "| `Provisioned` | `Degraded`, `Deleting` |",
		"conditions of Gate":           "| `Measuring` | ",
		"conditions of RolloutRequest": "| result | |",
		"events":                       "| `PhaseTransition` | ",
		"metrics":                      "| `intentdeployment_phase_transitions_total` | counter | `from`, `to` | ",
	} {
		if !strings.Contains(all[name], say) {
			t.Errorf("%s do not have %s:\n%s", name, say, all[name])
		}
	}
	for name, part := range all {
		for line := range strings.SplitSeq(part, "\n") {
			if strings.HasPrefix(line, "| `") && strings.HasSuffix(line, "| |") && !strings.HasPrefix(name, "phases") {
				t.Errorf("%s say nothing about %s", name, line)
			}
		}
	}
}
