package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/provider/telemetry"
)

const head = `# Reference

What objects and the provider say, as the code has it: this page is generated (` + "`make generate`" + `), and a test compares the two. What follows
from each is in [operations.md](operations.md).

## Conditions

Crossplane's own conditions, ` + "`Ready` and `Synced`" + `, are on all of these objects; their other reasons are Crossplane's. *Terminal* means that a
reason stays until somebody acts.
`

// A section is about the objects whose conditions a file declares.
type section struct{ title, file string }

func sections() []section {
	return []section{
		{"IntentDeployment", "apis/deployment/v1alpha1/conditions.go"},
		{"WorkloadCluster", "apis/workloadcluster/v1alpha1/conditions.go"},
		{"GitDelivery", "apis/delivery/v1alpha1/conditions.go"},
		{"SiteSync", "apis/delivery/v1alpha1/sitesync_conditions.go"},
		{"Gate", "apis/rollout/v1alpha1/gate_conditions.go"},
		{"ManagedCluster", "apis/cluster/v1alpha1/conditions.go"},
		{"RolloutRequest", "apis/rollout/v1alpha1/request_types.go"},
		{"ProviderConfig and ClusterProviderConfig", "apis/config/v1alpha1/conditions.go"},
	}
}

// reference is the text of the page. It returns an error for reasons that are in no section.
func reference(root string) (string, error) {
	all, err := constants(root, "apis")
	if err != nil {
		return "", err
	}
	b := &strings.Builder{}
	b.WriteString(head)
	for _, s := range sections() {
		fmt.Fprintf(b, "\n### %s\n", s.title)
		writeGroups(b, slices.DeleteFunc(slices.Clone(all), func(c constant) bool { return c.file != s.file }))
	}
	for _, c := range all {
		if kindOf(c) == "reason" && !slices.ContainsFunc(sections(), func(s section) bool { return s.file == c.file }) {
			return "", errors.Errorf("cannot place %s of %s in the reference", c.name, c.file)
		}
	}
	own, err := constants(root, "provider")
	if err != nil {
		return "", err
	}
	said, err := events(root, append(own, all...))
	if err != nil {
		return "", err
	}
	b.WriteString("\n## Events\n\nOf the provider's own; its reconcilers make those of Crossplane's runtime too.\n")
	writeTable(b, "reason", said)
	writeMetrics(b)
	return b.String(), nil
}

// writeGroups writes one table for each group of constants.
func writeGroups(b *strings.Builder, all []constant) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].group == all[0].group && kindOf(all[n]) == kindOf(all[0]) {
			n++
		}
		if all[0].group != "" {
			fmt.Fprintf(b, "\n%s\n", all[0].group)
		}
		writeTable(b, kindOf(all[0]), all[:n])
		all = all[n:]
	}
}

func kindOf(c constant) string { return strings.ToLower(telling.FindStringSubmatch(c.name)[1]) }

func writeTable(b *strings.Builder, kind string, all []constant) {
	fmt.Fprintf(b, "\n| %s | |\n|---|---|\n", kind)
	for _, c := range all {
		fmt.Fprintf(b, "| `%s` | %s |\n", c.value, c.doc)
	}
}

func writeMetrics(b *strings.Builder) {
	b.WriteString("\n## Metrics\n\nOf the provider, beside those of Go and of controller-runtime. Labels have few values. Counters of deployments are counted " +
		"again from their status\nwhen a provider begins, and those of servers begin at zero. A gauge tells what is now: [which queries are safe](operations.md#alerts).\n\n| metric | type | labels | |\n|---|---|---|---|\n")
	for _, f := range telemetry.Families() {
		labels := ""
		if len(f.Labels) > 0 {
			labels = "`" + strings.Join(f.Labels, "`, `") + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Name, f.Type(), labels, f.Help)
	}
}
