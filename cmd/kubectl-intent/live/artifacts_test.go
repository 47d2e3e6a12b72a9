package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestArtifactsAndDiff(t *testing.T) {
	catalog := []string{"--site=" + trialSites, "--blueprint=" + examples + "20-blueprint.yaml", "--config=" + examples + "30-config.yaml"}
	example, err := os.ReadFile(examples + "40-claim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rolledBack := func(s *samples.Sample) {
		s.Delivery.Spec.ForProvider.Trees[1].Action, s.Delivery.Spec.ForProvider.Trees[1].Files = deliveryv1alpha1.ActionRestore, nil
	}
	deferred := func(s *samples.Sample) {
		s.Delivery.Spec.ForProvider.Trees[1].Action, s.Delivery.Spec.ForProvider.Trees[1].Tree = deliveryv1alpha1.ActionKeep, strings.Repeat("3", 40)
	}
	mandated := func(s *samples.Sample) *deliveryv1alpha1.GitDeliveryObservation {
		p, o := &s.Delivery.Spec.ForProvider, &s.Delivery.Status.AtProvider
		p.Mandate = &deliveryv1alpha1.Mandate{Rules: step.Rules, Ledger: "l", Epoch: 1, Revision: 7, May: step.Kinds()}
		o.Mandate, o.Ledger.Seq = &deliveryv1alpha1.MandateStatus{Rules: step.Rules, Revision: 7, May: step.Kinds()}, o.Ledger.Seq+1
		for i := range o.Trees {
			o.Trees[i].Tree = p.Trees[i].Tree
		}
		return o
	}
	stepped := func(s *samples.Sample) {
		o, trees := mandated(s), s.Delivery.Spec.ForProvider.Trees
		o.Ledger.Current.Plan = []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}
		o.Ledger.Cursor.Step = 1
		s.Delivery.Spec.ForProvider.Later = []deliveryv1alpha1.LaterTree{directories.NewLater(trees[1], *o.Ledger)}
		trees[1] = directories.Retain(trees[1])
	}
	rejected := func(s *samples.Sample) {
		o := mandated(s)
		o.Ledger.Verdict, o.Ledger.Target, o.Ledger.Cursor.Attempt = &ledger.Verdict{Result: ledger.VerdictRejected}, 5, 1
		o.Trees[1].Tree = strings.Repeat("3", 40)
	}
	cases := map[string]struct {
		reason     string
		edit       func(*samples.Sample)
		in         string
		args       []string
		code       int
		says, lack string
	}{
		"Artifacts": {reason: "The files of each Site are printed.", args: []string{"artifacts", "shop"}, says: "# Site edge2: "},
		"JSON":      {reason: "A script gets the files by Site.", args: []string{"artifacts", "shop", "-o", "json"}, says: `"site": "edge1"`},
		"Names": {
			reason: "Each object has the name that kubectl takes, once for all Sites.",
			args:   []string{"artifacts", "shop", "-o", "name"}, says: "configmap/shop\ndeployment.apps/shop\n", lack: "kustomization",
		},
		"NamesTo": {
			reason: "Names are not written to a folder.",
			args:   []string{"artifacts", "shop", "-o", "name", "--to", "x"}, code: terminal.ExitUsage, says: "leave out --to",
		},
		"RolledBack": {
			reason: "Files that only the repository has are not guessed.",
			edit:   rolledBack, args: []string{"artifacts", "shop"}, code: terminal.ExitInvalid,
			says: `Site "edge2": GitDelivery shop-fleet does not carry all files`,
		},
		"Stepped": {
			reason: "A Site whose step the provider began by the mandate has the files of that step.",
			edit:   stepped, args: []string{"artifacts", "shop", "-o", "json"}, says: `"site": "edge2"`, lack: `"waits"`,
		},
		"SteppedSame": {
			reason: "A file is compared with the files of the step that the provider began by the mandate.",
			edit:   stepped, in: string(example), args: append([]string{"diff", "-"}, catalog...), lack: "@@",
		},
		"Rejected": {
			reason: "Files of a revision that the provider rolled back by the mandate are not shown as delivered files.",
			edit:   rejected, args: []string{"artifacts", "shop"}, code: terminal.ExitInvalid,
			says: `Site "edge2": GitDelivery shop-fleet does not carry all files`,
		},
		"Held": {
			reason: "Files that wait for their step do not belong to the Site yet.",
			edit:   deferred, args: []string{"artifacts", "shop"}, code: terminal.ExitInvalid,
			says: "Name a clone of it with --checkout, or say --fetch",
		},
		"Same": {reason: "A file that is delivered already changes nothing.", in: string(example), args: append([]string{"diff", "-"}, catalog...), lack: "@@"},
		"Replicas": {
			reason: "The changes of an edit are shown as rendered objects.",
			in:     strings.Replace(string(example), `"replicas": 2`, `"replicas": 5`, 1), args: append([]string{"diff", "-"}, catalog...),
			code: terminal.ExitInvalid, says: "-  replicas: 2\n+  replicas: 5\n",
		},
		"Left": {
			reason: "A Site that the file leaves loses its directory.",
			in:     strings.Replace(string(example), `"edge1", "edge2"`, `"edge1"`, 1), args: append([]string{"diff", "-", "-o", "json"}, catalog...),
			code: terminal.ExitInvalid, says: `"removed": true`,
		},
		"Another": {
			reason: "A missing deployment has nothing to compare with.",
			in:     strings.Replace(string(example), "name: shop", "name: other", 1), args: append([]string{"diff", "-"}, catalog...),
			code: terminal.ExitInvalid, says: `"other"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := cli.CarryFiles(t, examples, samples.Verified())
			if tc.edit != nil {
				tc.edit(s)
			}
			kubeconfig := cli.ServeSamples(t, &cli.Server{}, map[string]*samples.Sample{"team-a": s})
			out, problems, code := runIntent(tc.in, append(tc.args, "--kubeconfig", kubeconfig)...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) || tc.lack != "" && strings.Contains(out, tc.lack) {
				t.Errorf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.says, code, out, problems)
			}
		})
	}
}

// TestArtifactsInFolder writes a folder for each Site.
func TestArtifactsInFolder(t *testing.T) {
	kubeconfig := cli.ServeSamples(t, &cli.Server{}, map[string]*samples.Sample{"team-a": cli.CarryFiles(t, examples, samples.Verified())})
	target := filepath.Join(t.TempDir(), "files")
	if out, problems, code := runIntent("", "artifacts", "shop", "--to", target, "--kubeconfig", kubeconfig); code != 0 {
		t.Fatalf("artifacts --to: exit code %d:\n%s%s", code, out, problems)
	}
	for _, site := range []string{"edge1", "edge2"} {
		if all, err := filepath.Glob(filepath.Join(target, site, "*.yaml")); err != nil || len(all) < 2 {
			t.Errorf("artifacts --to: Site %s has files %q, %v", site, all, err)
		}
	}
}
