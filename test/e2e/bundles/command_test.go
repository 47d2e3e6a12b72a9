package bundles

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/bundles/state"
)

// TestStateCommands reads with the plugin the records of the library, as a user with the right to read them and as a user without
// it.
func TestStateCommands(t *testing.T) {
	t.Parallel()
	p := newNamespace(t)
	for _, call := range []error{
		initialiseBundle(bundleWithPackages("1", "a 1.0", "b 2.0"), state.Deploying)(t.Context(), p.records),
		setPackageStatus("a", state.Deploying, state.Success)(t.Context(), p.records),
	} {
		if call != nil {
			t.Fatal(call)
		}
	}
	exported, problems, code := runIntent(t, "export", "platform", "-n", p.namespace)
	got := &state.BundleState{}
	if err := json.Unmarshal([]byte(exported), got); err != nil || code != 0 {
		t.Fatalf("export: exit code %d, %v: %s%s", code, err, exported, problems)
	}
	want, err := p.records.GetBundleState(t.Context(), "platform")
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(got)
	stored := string(p.secretOfRecord("platform").Data["data"])
	if diff := cmp.Diff(stored, string(encoded)); diff != "" || err != nil || want.Name != got.Name {
		t.Errorf("export: %v; -stored, +exported:\n%s", err, diff)
	}
	cases := map[string]struct {
		reason string
		args   []string
		says   string
		code   int
	}{
		"List":    {reason: "The record is listed.", args: []string{"list", "-n", p.namespace}, says: "platform   1         deploying   1/2        0"},
		"ListAll": {reason: "The list of all namespaces has the record.", args: []string{"list", "-A"}, says: p.namespace},
		"Show":    {reason: "The record is shown.", args: []string{"show", "platform", "-n", p.namespace}, says: "b         -         2.0      not_deployed"},
		"Missing": {
			reason: "A bundle without a record is an error.",
			args:   []string{"show", "other", "-n", p.namespace}, says: `bundle "other" has none in namespace`, code: 1,
		},
		"Denied": {
			reason: "A user without the right to read Secrets sees nothing.",
			args:   []string{"show", "platform", "-n", p.namespace, "--as", "ann"}, says: "ask for the right to", code: 1,
		},
		"NoList": {
			reason: "A user without the right to list Secrets sees nothing.",
			args:   []string{"list", "-A", "--as", "ann"}, says: "cannot list the records of all namespaces", code: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, problems, code := runIntent(t, tc.args...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) || code != 0 && strings.Contains(out, "platform") {
				t.Errorf("\n%s\n%v: exit code %d:\n%s%s\nwant %q", tc.reason, tc.args, code, out, problems, tc.says)
			}
		})
	}
	current, err := p.records.GetBundleState(t.Context(), "platform")
	if err != nil || !current.DateUpdated.Equal(want.DateUpdated) {
		t.Errorf("The reader wrote the record: %v", err)
	}
}
