package offline

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestDigest(t *testing.T) {
	text := `{"service": "shop"}`
	sum, err := digest.Spec(&deploymentv1alpha1.IntentDeploymentSpec{Intent: &text})
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		out string
		err string
	}
	cases := map[string]struct {
		reason string
		in     string
		want   want
	}{
		"One": {
			reason: "The same claim always has the same digest.",
			in:     cli.Claim,
			want:   want{out: sum + "\n"},
		},
		"Several": {
			reason: "Several are named, other objects passed over.",
			in: cli.Claim + "---\napiVersion: v1\nkind: Namespace\n---\n" +
				strings.NewReplacer("claims.", "", "name: shop}", "name: other}").Replace(cli.Claim),
			want: want{out: "team-a/shop " + sum + "\nteam-a/other " + sum + "\n"},
		},
		"Added": {
			reason: "Fields that Crossplane adds, and the status, change nothing.",
			in:     cli.Claim + added,
			want:   want{out: sum + "\n"},
		},
		"Defaults": {
			reason: "A default that the claim gives changes no digest.",
			in:     cli.Claim + "  suspend: false\n  compileConfig: {renderTimeout: 10s}\n",
			want:   want{out: sum + "\n"},
		},
		"UnknownField": {
			reason: "A field that does not exist is named by its path.",
			in:     cli.Claim + "  deliveryConfig: {targetsite: edge1}\n",
			want:   want{err: `cannot decode document 1 of -: unknown field "spec.deliveryConfig.targetsite"`},
		},
		"Nothing": {
			reason: "A file without a claim is a mistake.",
			in:     "apiVersion: v1\nkind: Namespace\n",
			want:   want{err: "- has no IntentDeployment and no Application of claims.intentplane.dev/v1alpha1 or intentplane.dev/v1alpha1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &bytes.Buffer{}
			err := (&Digest{File: "-", FormFlag: terminal.FormFlag{Output: "text"}}).Run(&terminal.Streams{In: strings.NewReader(tc.in), Out: out})
			if diff := cmp.Diff(tc.want.err, message(err)); diff != "" {
				t.Errorf("\n%s\nRun(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.out, out.String()); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

const added = `  compositionRef: {name: xintentdeployments.claims.intentplane.dev}
  resourceRef: {apiVersion: claims.intentplane.dev/v1alpha1, kind: XIntentDeployment, name: shop-x}
status: {phase: Succeeded, conditions: []}
`

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
