package request

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// commands are the commands of this package, and validate, by the names that they have in the program.
type commands struct {
	Abort    Abort    `cmd:""`
	Approve  Approve  `cmd:""`
	Look     Look     `cmd:""`
	Promote  Promote  `cmd:""`
	Prune    Prune    `cmd:""`
	Refresh  Refresh  `cmd:""`
	Retry    Retry    `cmd:""`
	Rollback Rollback `cmd:""`

	Validate offline.Validate `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

func TestLook(t *testing.T) {
	found := buildv1alpha1.ImageBuildObservation{Wanted: buildv1alpha1.WantedImage{Commit: "4f2a"}}
	missing := buildv1alpha1.ImageBuildObservation{SourceTrouble: buildv1alpha1.SourceTrouble{Reason: "RevisionNotFound", Message: "no branch"}}
	denied := buildv1alpha1.ImageBuildObservation{Wanted: buildv1alpha1.WantedImage{Commit: "4f2a"}, SourceTrouble: buildv1alpha1.SourceTrouble{Reason: "PolicyDenied", Message: "spec.build"}}
	secret := buildv1alpha1.ImageBuildObservation{
		Wanted:        buildv1alpha1.WantedImage{Commit: "4f2a"},
		SourceTrouble: buildv1alpha1.SourceTrouble{Reason: "CredentialsGone", Message: `source.git.secretRef: Secret "git" does not exist`},
	}
	cases := map[string]struct {
		reason string
		at     buildv1alpha1.ImageBuildObservation
		source string
		args   []string
		want   string
		code   int
	}{
		"Found":   {reason: "The commit is printed once the look is done.", at: found, want: "main is at 4f2a\n"},
		"Missing": {reason: "A look that finds no commit says why.", at: missing, want: "RevisionNotFound: no branch", code: 1},
		"JSON":    {reason: "A program reads the commit.", at: found, args: []string{"-o", "json"}, want: `"commit": "4f2a"`},
		"NotJSON": {
			reason: "A program can read the reason for a missing commit.",
			at:     missing, args: []string{"-o", "yaml"}, want: "reason: RevisionNotFound\n", code: 1,
		},
		"NoWait": {reason: "A user who does not wait gets no commit.", at: found, args: []string{"--no-wait"}, want: "will be looked at"},
		"Archive": {
			reason: "An archive has no repository, which is known at once.",
			source: `{"source": {"blob": {"url": "https://files.example.org/shop.tar.gz"}}}`, want: "an archive is not looked at", code: 1,
		},
		"Denied": {reason: "A source that the configuration refuses is not looked at.", at: denied, want: "PolicyDenied: spec.build", code: 1},
		"NoSecret": {
			reason: "A missing Secret is the answer, and the commit of an earlier look is not printed.",
			at:     secret, want: `CredentialsGone: source.git.secretRef: Secret "git" does not exist`, code: 1,
		},
		"Image": {reason: "An Application with an image has no repository.", source: `{"image": "a:1"}`, want: "is built of a source", code: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.source == "" {
				tc.source = cli.GitSource
			}
			cli.ServeBuilt(t, tc.at, tc.source)
			out, problems, code := runIntent("", append([]string{"look", "api"}, tc.args...)...)
			if code != tc.code || !strings.Contains(out+problems, tc.want) {
				t.Errorf("\n%s\nlook: exit code %d: %s%s", tc.reason, code, out, problems)
			}
		})
	}
}

// TestRefuseLook has an Application with a source and annotations.
func TestRefuseLook(t *testing.T) {
	const paused = `ReconcilePaused: Crossplane passes no request on while the Application has annotation crossplane.io/paused: "true": remove it`
	const archive = "an archive is not looked at: name another one in spec.source.blob.url, or set another spec.source.trigger to build this one again"
	const blob = `{"source": {"blob": {"url": "https://files.example.org/shop.tar.gz"}}}`
	cases := map[string]struct {
		reason, source string
		annotations    map[string]string
		isDeleted      bool
		want           string
	}{
		"Deleted": {
			reason: "Crossplane composes nothing for an Application that is being deleted.",
			source: cli.GitSource, isDeleted: true, want: "the Application is being deleted, and Crossplane passes no request on",
		},
		"Git": {reason: "The repository of an Application is looked at.", source: cli.GitSource},
		"Paused": {
			reason: "A paused Application passes no request on to its ImageBuild.",
			source: cli.GitSource, annotations: map[string]string{"crossplane.io/paused": "true"}, want: paused,
		},
		"Resumed": {
			reason: "An Application that is not paused may keep the annotation.",
			source: cli.GitSource, annotations: map[string]string{"crossplane.io/paused": "false"},
		},
		"Capital": {
			reason: "Crossplane compares the value as it is written.",
			source: cli.GitSource, annotations: map[string]string{"crossplane.io/paused": "True"},
		},
		"Other":   {reason: "Another annotation pauses nothing.", source: cli.GitSource, annotations: map[string]string{"crossplane.io/external-name": "true"}},
		"Archive": {reason: "An archive is not looked at.", source: blob, want: archive},
		"PausedArchive": {
			reason: "An archive is not looked at after a pause either.",
			source: blob, annotations: map[string]string{"crossplane.io/paused": "true"}, want: archive,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := cause.Application{}
			if err := json.Unmarshal([]byte(tc.source), &a.Spec); err != nil {
				t.Fatal(err)
			}
			if a.Metadata.Annotations = tc.annotations; tc.isDeleted {
				a.Metadata.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
			}
			if diff := cmp.Diff(tc.want, message(refuseRefresh(&a))); diff != "" {
				t.Errorf("\n%s\nrefuseLook(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLookPaused runs the command on a paused Application: it requests nothing, and does not wait.
func TestLookPaused(t *testing.T) {
	patches := serveTexts(t, map[string]string{
		"/apis/intentplane.dev/v1alpha1/namespaces/team-a/applications/api": `{"apiVersion": "intentplane.dev/v1alpha1", "kind": "Application",
			"spec": ` + cli.GitSource + `, "metadata": {"namespace": "team-a", "name": "api", "annotations": {"crossplane.io/paused": "true"}}}`,
	})
	for _, args := range [][]string{{"look", "api"}, {"look", "api", "--no-wait"}, {"look", "api", "-o", "json"}} {
		out, problems, code := runIntent("", args...)
		if code != 1 || !strings.Contains(problems, "api: ReconcilePaused: ") || *patches > 0 {
			t.Errorf("%v: exit code %d after %d requests: %s%s", args, code, *patches, out, problems)
		}
	}
}

// TestLookUnanswered runs the command on Applications whose request reaches no ImageBuild of theirs: it does not wait for an answer.
func TestLookUnanswered(t *testing.T) {
	const (
		claim     = "/apis/claims.intentplane.dev/v1alpha1/namespaces/team-a/applications/api"
		composite = "/apis/claims.intentplane.dev/v1alpha1/xapplications/api-x"
		build     = "/apis/build.intentplane.dev/v1alpha1/namespaces/team-a/imagebuilds/api"
	)
	application := func(extra, status string) string {
		return `{"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "Application", "metadata": {"namespace": "team-a", "name": "api"},
			"spec": {"source": {"git": {"url": "https://git.example.org/api.git", "revision": "main"}}` + extra + `}, "status": ` + status + `}`
	}
	ofComposite := `{"apiVersion": "build.intentplane.dev/v1alpha1", "kind": "ImageBuild", "metadata": {"namespace": "team-a", "name": "api"},
		"spec": {"forProvider": {"claimRef": {"apiGroup": "intentplane.dev", "kind": "Application", "namespace": "team-a", "name": "api"}}}}`
	cases := map[string]struct {
		reason  string
		texts   map[string]string
		patches int
		want    string
	}{
		"PausedComposite": {
			reason: "A claim whose composite is paused passes no request on.",
			texts: map[string]string{
				claim: application(`, "resourceRef": {"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "XApplication", "name": "api-x"}`, "{}"),
				composite: `{"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "XApplication",
					"metadata": {"name": "api-x", "annotations": {"crossplane.io/paused": "true"}}}`,
			},
			want: `api: ReconcilePaused: Crossplane passes no request on while XApplication api-x has annotation crossplane.io/paused: "true": remove it`,
		},
		"NameTaken": {
			reason: "The ImageBuild of another Application of the same name answers no request of this Application.",
			texts: map[string]string{
				build: ofComposite,
				claim: application("", `{"conditions": [{"type": "Valid", "status": "False", "reason": "NameTaken", "message": "ImageBuild api belongs to another Application"}]}`),
			},
			patches: 1, want: "api: NameTaken: ImageBuild api belongs to another Application",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patches := serveTexts(t, tc.texts)
			out, problems, code := runIntent("", "look", "api", "--timeout=30s")
			if code != 1 || !strings.Contains(problems, tc.want) || *patches != tc.patches {
				t.Errorf("\n%s\nlook: exit code %d after %d requests: %s%s", tc.reason, code, *patches, out, problems)
			}
		})
	}
}

// serveTexts serves objects as JSON by their paths, and returns the number of requests that change an object.
func serveTexts(t *testing.T, texts map[string]string) *int {
	t.Helper()
	patches := new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			*patches++
		}
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "` + s.URL + `"}}],
		contexts: [{name: a, context: {cluster: a, user: a, namespace: team-a}}], users: [{name: a, user: {}}]}`
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	return patches
}

// TestAwaitLook waits for the answer to its own request, and not for ever.
func TestAwaitLook(t *testing.T) {
	reads := 0
	read := func(context.Context) (*buildv1alpha1.ImageBuild, error) {
		reads++
		b := &buildv1alpha1.ImageBuild{}
		b.Status.AtProvider.LookNow = "before"
		if reads > 2 {
			b.Status.AtProvider.LookNow = "before now"
		}
		return b, nil
	}
	if b, err := awaitBuildRefresh(t.Context(), read, "now", time.Millisecond); err != nil || reads != 3 || b == nil {
		t.Errorf("awaitLook(...) after %d reads: %v", reads, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := awaitBuildRefresh(ctx, read, "later", time.Millisecond)
	if e := (terminal.EndError{}); !errors.As(err, &e) || e.Code != terminal.ExitTimedOut {
		t.Errorf("A wait that takes too long ends with 4: %v", err)
	}
}

// TestUnanswerableLook has a request that the provider took up, and could not look for.
func TestUnanswerableLook(t *testing.T) {
	cases := map[string]struct {
		reason    string
		handled   string
		lookNow   string
		condition xpv2.Condition
		want      string
	}{
		"Error": {
			reason:  "An error of the reconcile is the reason.",
			handled: "now", condition: xpv2.ReconcileError(errors.New("cannot get Secret")), want: "ReconcileError: cannot get Secret",
		},
		"Paused": {reason: "A paused ImageBuild answers nothing.", condition: xpv2.ReconcilePaused(), want: "ReconcilePaused: "},
		"Answered": {
			reason:  "An error about another object hides no commit.",
			handled: "now", lookNow: "now", condition: xpv2.ReconcileError(errors.New("cannot apply Image")),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &buildv1alpha1.ImageBuild{}
			b.Status.LastHandledReconcileAt, b.Status.AtProvider.LookNow = tc.handled, tc.lookNow
			b.SetConditions(tc.condition)
			got, err := awaitBuildRefresh(t.Context(), func(context.Context) (*buildv1alpha1.ImageBuild, error) { return b, nil }, "now", time.Millisecond)
			if err != nil {
				t.Fatalf("\n%s\nawaitLook(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, message(newLookReport("api", "now", got).missingCommitError())); diff != "" {
				t.Errorf("\n%s\nnewLookReport(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	b := &buildv1alpha1.ImageBuild{}
	b.SetConditions(xpv2.ReconcileError(errors.New("an earlier one")))
	if isReconcileFailed(b, "now") {
		t.Error("An error of an earlier reconcile does not answer the request.")
	}
}

// TestExplainNoBuild has an Application that composed no ImageBuild.
func TestExplainNoBuild(t *testing.T) {
	f := &cause.ApplicationFacts{}
	if got := message(explainNoBuild(f)); !strings.Contains(got, "kubectl intent why") {
		t.Errorf("explainNoBuild(...): the command that says why is wanted, got %q", got)
	}
	f.Application.Status.Conditions = cause.Conditions{{Type: "Valid", Status: "False", Reason: "NameTaken", Message: "an IntentDeployment shop exists"}}
	if diff := cmp.Diff("NameTaken: an IntentDeployment shop exists", message(explainNoBuild(f))); diff != "" {
		t.Errorf("explainNoBuild(...): -want, +got:\n%s", diff)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
