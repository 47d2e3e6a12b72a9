package gitdelivery

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

func TestRace(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Lost": {reason: "An earlier push of another user stays, and the delivery follows it in the same reconcile.", run: func(w *world) {
			w.create(w.first())
			w.begun = func() { w.begun = func() {}; w.push(map[string]string{"theirs": "x\n"}) }
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, map[string]string{"theirs": "x\n"})
		}},
		"LostToAnOwner": {reason: "Files that another user pushed meanwhile are not overwritten.", run: func(w *world) {
			theirs := map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"}
			w.create(w.first())
			w.begun = func() { w.begun = func() {}; w.push(theirs) }
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.holds(nil, theirs)
		}},
		"LostForEver": {reason: "A push that loses each race is given up, reported, and tried again later.", run: func(w *world) {
			w.create(w.first())
			w.must(os.WriteFile(filepath.Join(w.git.Path(repo), "refs", "heads", "main.lock"), nil, 0o600))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonConflict)
			w.synced("web", corev1.ConditionFalse)
			w.count(0)
		}},
		"TwoClaims": {reason: "Two claims share the branch and the state, and do not disturb each other", run: func(w *world) {
			w.create(w.first())
			otherDelivery := delivery("api", order(1, "x"), desired(w.T, "edge1", "clusters/edge1/team-a/api", "x"))
			otherDelivery.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(otherDelivery)
			w.begun = func() { w.begun = func() {}; w.reconcile("api") }
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.expect("api", v1alpha1.ReasonDelivered)
			w.count(2)
			w.reconcile("web")
			w.reconcile("api")
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("a"), "clusters/edge1/team-a/api": files("x")}, nil)
		}},
	})
}

func TestServer(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"StateRefIsRefused": {reason: "A server that takes no custom refs gets a branch for the state", run: func(w *world) {
			w.must(w.git.Configure(w.Context(), repo, "receive.hideRefs", "refs/intentplane"))
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			refs, err := w.git.Refs(w.Context(), repo)
			if w.must(err); refs["refs/heads/intentplane-state/prod"] == "" {
				w.Errorf("refs: want the branch of the state among them: %v", refs)
			}
		}},
		"StateIsBranch": {reason: "A configuration may ask for the branch, and gets no ref beside it", run: func(w *world) {
			w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.State.Form = configv1alpha1.StateBranch })
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			refs, err := w.git.Refs(w.Context(), repo)
			if w.must(err); refs["refs/heads/intentplane-state/prod"] == "" || refs[stateRef] != "" {
				w.Errorf("refs: want the branch of the state, and not the other form: %v", refs)
			}
		}},
		"StateIsRefused": {reason: "A delivery whose state is refused is not delivered.", run: func(w *world) {
			w.must(w.git.Configure(w.Context(), repo, "receive.hideRefs", "refs/intentplane"))
			w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.State.Form = configv1alpha1.StateRef })
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonStateRefused)
			w.synced("web", corev1.ConditionFalse)
			w.count(0)
		}},
		"NotAtomic": {reason: "Without atomic pushes the state goes first, and the branch follows", run: func(w *world) {
			w.must(w.git.Configure(w.Context(), repo, "receive.advertiseAtomic", "false"))
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
		}},
		"WrittenAhead": {reason: "A state without its commit means: carry out, at the same date", run: func(w *world) {
			w.must(w.git.Configure(w.Context(), repo, "receive.advertiseAtomic", "false"))
			d := w.first()
			d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftReport
			w.create(d)
			w.hook("update", `case "$1" in refs/heads/main) echo "not allowed" >&2; exit 1;; esac`)
			w.reconcile("web")
			w.synced("web", corev1.ConditionFalse)
			w.count(0)
			w.hook("update", "exit 0")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
		}},
		"WrittenAheadAndForgotten": {reason: "An attempt that only the state has is carried out, at the same date, and is not drift.", run: func(w *world) {
			w.must(w.git.Configure(w.Context(), repo, "receive.advertiseAtomic", "false"))
			d := w.first()
			d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftReport
			w.create(d)
			w.hook("update", `case "$1" in refs/heads/main) echo "not allowed" >&2; exit 1;; esac`)
			w.reconcile("web")
			w.count(0)
			begun := w.get("web").Status.AtProvider.Attempt.StartedAt
			w.forget()
			w.hook("update", "exit 0")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			c, observed := w.commits()[0], w.get("web").Status.AtProvider
			if !c.Time.Equal(begun.Time) || !observed.Attempt.StartedAt.Time.Equal(begun.Time) || observed.Remote.Commit != c.ID {
				w.Errorf("commit: want %s at %v, got %s at %v", observed.Remote.Commit, begun, c.ID, c.Time)
			}
		}},
		"Hook": {reason: "A refusal by a hook is reported.", run: func(w *world) {
			w.hook("update", `case "$1" in refs/heads/main) echo "only on Mondays" >&2; exit 1;; esac`)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.synced("web", corev1.ConditionFalse)
		}},
		"Unauthorized": {reason: "Refused credentials are reported.", run: func(w *world) {
			w.git.Fail(repo, http.StatusUnauthorized)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonAuthFailed)
		}},
		"Empty": {reason: "The first delivery makes the branch of an empty repository", run: func(w *world) {
			w.must(w.git.CreateRepo(w.Context(), "empty", nil))
			w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.URL = w.git.URL("empty") })
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"NoBranch": {reason: "A branch that is missing among others is a mistake, not a wish", run: func(w *world) {
			w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.Branch = "mian" })
			d := w.first()
			d.Spec.ForProvider.Trees[0].Branch = "mian"
			w.create(d)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonUnreachable)
		}},
	})
}

// hook of the server's repository.
func (w *world) hook(name, script string) {
	w.Helper()
	w.hookIn(repo, name, script)
}

// hookIn lets a repository run a script as a hook.
func (w *world) hookIn(repository, name, script string) {
	w.Helper()
	file := filepath.Join(w.git.Path(repository), "hooks", name)
	w.must(os.MkdirAll(filepath.Dir(file), 0o755))
	w.must(os.WriteFile(file, []byte(strings.Join([]string{"#!/bin/sh", script, ""}, "\n")), 0o755))
}

// forget clears the object's status.
func (w *world) forget() {
	w.Helper()
	d := w.get("web")
	d.Status = v1alpha1.GitDeliveryStatus{}
	w.must(w.kube.Status().Update(w.Context(), d))
}
