package gitdelivery

import (
	"slices"
	"strconv"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/gitserver"
)

// events are the recorded Kubernetes events.
type events []event.Event

func (e events) reasons() []string {
	out := []string{}
	for _, recorded := range e {
		out = append(out, string(recorded.Reason))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sign lets the configuration name a key.
func (w *world) sign() {
	w.Helper()
	_, key, err := gitserver.NewSSHKey()
	w.must(err)
	w.must(w.kube.Create(w.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "intentplane", Name: "signing"}, Data: map[string][]byte{"identity": key},
	}))
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Git.Signing = &configv1alpha1.Signing{Format: "SSH", SecretRef: configv1alpha1.SecretReference{Namespace: "intentplane", Name: "signing"}}
	w.must(w.kube.Update(w.Context(), c))
}

// forge a state in which the claim is at another revision.
func (w *world) forge(revision int64) {
	w.Helper()
	c, err := git.NewClient(git.Remote{URL: w.git.URL(repo), Branch: "main", StateRef: "refs/intentplane/prod/state"}, budget.New())
	w.must(err)
	defer c.Close()
	s, err := c.Look(w.Context(), nil)
	w.must(err)
	path := state.LedgerPath(w.first().Spec.ForProvider.ClaimRef)
	content, _, err := s.StateFile(w.Context(), path)
	w.must(err)
	file, err := state.DecodeLedger(content)
	w.must(err)
	file.State.Current.Number, file.State.LastNumber = revision, revision
	file.State.Seq, file.State.ID = file.State.Seq+1, "forged"
	forged, err := file.Encode()
	w.must(err)
	p, err := git.Plan(w.Context(), s, git.Change{
		State: map[string][]byte{path: forged}, Message: "x", When: w.now(), Author: git.Author{Name: "x", Email: "x@example.org"},
	})
	w.must(err)
	_, err = c.Push(w.Context(), p)
	w.must(err)
}

// unsigned returns "1" if the commit at the tip of the state has no signature, and "0" otherwise, with a line break.
func (w *world) unsigned() string {
	w.Helper()
	out, err := w.git.Git(w.Context(), repo, "rev-list", "--count", "--no-walk", "--grep=Intentplane-State", "--invert-grep", "refs/intentplane/prod/state")
	w.must(err)
	return out
}

func TestForgedState(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Unsigned": {reason: "Without a key, a state of any writer is trusted.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.forge(9)
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
		}},
		"Remembered": {reason: "A forged state restores nothing, and the state in the object's status is written again.", run: func(w *world) {
			w.sign()
			w.create(w.first())
			w.reconcile("web")
			w.forge(9)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if diff := cmp.Diff("0\n", w.unsigned()); diff != "" {
				w.Errorf("unsigned state at the tip: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{string(v1alpha1.ReasonStateUntrusted)}, w.events.reasons()); diff != "" {
				w.Errorf("events: -want, +got:\n%s", diff)
			}
		}},
		"Forgotten": {reason: "A forged state restores nothing for an object without a status: the next revision continues the numbers in commits.", run: func(w *world) {
			w.sign()
			w.create(w.first())
			w.reconcile("web")
			w.forge(9)
			w.forget()
			w.restart()
			w.reconcile("web")
			w.change(func(d *v1alpha1.GitDelivery) { setWish(d, order(2, "a")) }) // The commits say that 1 was used.
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			for _, h := range w.get("web").Status.AtProvider.History {
				if h.Revision == 9 {
					w.Errorf("history: it has the forged revision: %v", h)
				}
			}
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"Trusted": {reason: "A signed state is believed", run: func(w *world) {
			w.sign()
			w.create(w.first())
			w.reconcile("web")
			w.forget()
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if len(w.events) > 0 || len(w.get("web").Status.AtProvider.History) != 1 {
				w.Errorf("want the history from the state, and no event: %v", w.events)
			}
		}},
	})
}

func TestSignedCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sign()
	w.create(w.first())
	revision := int64(1)
	for _, moment := range []string{"BeforeStatus", "BetweenStateAndBranch", "BeforePush", "BeforeFetch", "BetweenStateAndBranch"} {
		revision++
		says := "r" + strconv.FormatInt(revision, 10)
		w.change(func(d *v1alpha1.GitDelivery) {
			setWish(d, order(revision, says))
			d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, says)}
		})
		crashes()[moment](w)
		_ = w.try("web") // Who is dead cannot say so.
		w.recover()
		if moment == "BetweenStateAndBranch" {
			w.forget()
		}
		w.reconcile("web")
		w.expect("web", v1alpha1.ReasonDelivered)
		w.holds(map[string]tree.Files{webAtE1: files(says)}, nil)
		w.count(int(revision) - 1)
	}
	if len(w.events) > 0 {
		t.Errorf("events: want none, got %v", w.events)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	user, key, err := gitserver.NewSSHKey()
	w.must(err)
	x, err := w.git.SSH(w.Context(), gitserver.SSHOptions{})
	w.must(err)
	t.Cleanup(x.Close)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "intentplane", Name: "ssh"},
		Data:       map[string][]byte{"identity": key, "known_hosts": x.KnownHosts()},
	}
	w.must(w.kube.Create(w.Context(), secret))
	c.Spec.Git.URL = x.URL(repo)
	c.Spec.Git.Credentials = configv1alpha1.Credentials{
		Type: configv1alpha1.CredentialsSSH, SecretRef: &configv1alpha1.SecretReference{Namespace: "intentplane", Name: "ssh"},
	}
	w.must(w.kube.Update(w.Context(), c))

	w.create(w.first())
	_ = w.try("web") // The server does not know the key.
	w.expect("web", v1alpha1.ReasonAuthFailed)
	x.Authorize(user.PublicKey())
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)

	next, nextKey, err := gitserver.NewSSHKey()
	w.must(err)
	x.Authorize(next.PublicKey())
	w.change(func(d *v1alpha1.GitDelivery) {
		setWish(d, order(3, "b"))
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}
	})
	_ = w.try("web") // The old key is not valid any more.
	w.expect("web", v1alpha1.ReasonAuthFailed)
	secret.Data["identity"] = nextKey
	w.must(w.kube.Update(w.Context(), secret))
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)

	otherKey, _, err := gitserver.NewSSHKey()
	w.must(err)
	secret.Data["known_hosts"] = gitserver.KnownHost(x, otherKey)
	w.must(w.kube.Update(w.Context(), secret))
	_ = w.try("web")
	w.expect("web", v1alpha1.ReasonTrustFailed)
}
