package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// listed is a List as kubectl prints it, with a claim that is wrong in line 13.
const listed = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: {name: team-a}
- apiVersion: claims.intentplane.dev/v1alpha1
  kind: IntentDeployment
  metadata:
    name: shop
    namespace: team-a
  spec:
    intnt: '{"service": "shop"}'
`

func TestWhatIsOurs(t *testing.T) {
	const message = "spec.intnt: is not a field of this kind"
	wrong := offline.Finding{File: "-", Document: 1, Line: 13, Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", Field: "spec.intnt", Reason: "InvalidSpec", Message: message}
	exactly := offline.Finding{File: "-", Document: 1, Line: 12, Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", Field: "spec", Reason: "InvalidSpec", Message: "spec: Invalid value: exactly one of intent and expectation must be set"}
	finding := func(f offline.Finding, line, document int) offline.Finding {
		f.Line, f.Document = line, document
		return f
	}
	singleFinding := func(line int, field, _, kind, message string) []offline.Finding {
		return []offline.Finding{{File: "-", Document: 1, Line: line, Kind: kind, Namespace: "team-a", Name: "shop", Field: field, Reason: "InvalidSpec", Message: message}}
	}
	cases := map[string]struct {
		reason string
		in     string
		want   []offline.Finding
	}{
		"List":   {reason: "The items of a kubectl list are validated.", in: listed, want: []offline.Finding{exactly, wrong}},
		"Second": {reason: "Line numbers count in the file.", in: "a: 1\n---\n" + listed, want: []offline.Finding{finding(exactly, 14, 2), finding(wrong, 15, 2)}},
		"Nested": {
			reason: "Lists in lists are read, however deep.",
			in:     "kind: List\nitems:\n" + indented(listed), want: []offline.Finding{finding(exactly, 14, 1), finding(wrong, 15, 1)},
		},
		"Typed": {
			reason: "A list of one kind need not say it of each.",
			in: "apiVersion: claims.intentplane.dev/v1alpha1\nkind: IntentDeploymentList\nitems:\n- metadata: {name: shop, namespace: team-a}\n  " +
				"spec:\n    intnt: a\n",
			want: []offline.Finding{finding(exactly, 5, 1), finding(wrong, 6, 1)},
		},
		"Version": {
			reason: "A version that does not exist is a mistake.",
			in:     strings.Replace(cli.Claim, "v1alpha1", "v1alpha2", 1),
			want: singleFinding(
				1, "apiVersion", "", "IntentDeployment",
				`apiVersion: IntentDeployment of claims.intentplane.dev has no version "v1alpha2", but v1alpha1`,
			),
		},
		"Kind": {
			reason: "A kind with a mistake is found, with the kind that is meant.",
			in:     strings.Replace(cli.Claim, "IntentDeployment", "IntentDeploymnt", 1),
			want: singleFinding(
				2, "kind", "", "IntentDeploymnt",
				`kind: claims.intentplane.dev/v1alpha1 has no kind "IntentDeploymnt": did you mean IntentDeployment of claims.intentplane.dev?`,
			),
		},
		"Group": {
			reason: "A group below ours with a mistake is found.",
			in:     strings.Replace(cli.Claim, "claims.", "claim.", 1),
			want: singleFinding(
				2, "kind", "", "IntentDeployment",
				`kind: claim.intentplane.dev/v1alpha1 has no kind "IntentDeployment": did you mean IntentDeployment of claims.intentplane.dev?`,
			),
		},
		"Strangers": {
			reason: "A group that only ends as ours does is another project's.",
			in:     strings.Replace(cli.Claim, "claims.intent", "myintent", 1), want: []offline.Finding{},
		},
		"NotAList": {reason: "A kind that is called a list may have no items.", in: "apiVersion: x.org/v1\nkind: AllowList\nitems: 3\n", want: []offline.Finding{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, _ := runIntent(tc.in, "validate", "-", "-o", "json")
			got := offline.ValidationReport{}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("\n%s\nrun(...): %v: %s", tc.reason, err, problems)
			}
			if diff := cmp.Diff(tc.want, got.Findings); diff != "" {
				t.Errorf("\n%s\nrun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	twice := strings.Replace(listed, "intnt:", "intent: a\n    intent:", 1)
	for _, command := range []string{"validate", "digest"} {
		if out, problems, code := runIntent(twice+"---\n"+cli.Claim, command, "-"); code != terminal.ExitInvalid || !strings.Contains(out+problems, `"intent" already set`) {
			t.Errorf("%s: a duplicate key of a list is not lost: exit code %d:\n%s%s", command, code, out, problems)
		}
	}
	want, _, _ := runIntent(cli.Claim, "digest", "-")
	if got, problems, _ := runIntent(strings.Replace(listed, "intnt", "intent", 1), "digest", "-"); got != want {
		t.Errorf("Other commands look into lists too: want %q, got %q: %s", want, got, problems)
	}
}

// indented returns a document as the only item of a list.
func indented(text string) string {
	return "- " + strings.TrimSpace(strings.ReplaceAll(text, "\n", "\n  ")) + "\n"
}

// TestUnreadable wants a report, whatever cannot be read.
func TestUnreadable(t *testing.T) {
	bad := cli.WriteFile(t, strings.Replace(cli.Claim, "intent:", "intnt:", 1))
	server := cli.Server{Denied: map[string]bool{"blueprints.catalog.intentplane.dev": true}}
	kubeconfig := server.Start(t, trialSites)
	large := cli.WriteFile(t, strings.Repeat("# nothing\n", 16<<20/10+1))
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"Missing": {
			reason: "A missing file hides no other file.",
			args:   []string{"nowhere.yaml", bad}, want: []string{"nowhere.yaml:1: Unreadable: cannot read file: ", "InvalidSpec: spec.intnt: ", "1 object, 3 mistakes"},
		},
		"Large": {
			reason: "A file that is too large does not hide the findings of others.",
			args:   []string{large, bad}, want: []string{":1: Unreadable: ", "InvalidSpec: spec.intnt: "},
		},
		"Cluster": {
			reason: "A list that the cluster refuses does not hide the findings of files.",
			args:   []string{examples + "40-claim.yaml", bad, "--live", "--kubeconfig", kubeconfig},
			want: []string{
				"IntentDeployment team-a/shop: Unreadable: cannot list blueprints.catalog.intentplane.dev: ", "InvalidSpec: spec.intnt: ",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent("", append([]string{"validate"}, tc.args...)...)
			for _, want := range tc.want {
				if code != terminal.ExitInvalid || !strings.Contains(out, want) {
					t.Errorf("\n%s\nrun(...): want %q, got exit code %d:\n%s%s", tc.reason, want, code, out, problems)
				}
			}
		})
	}
}
