package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
)

// A remote is a repository whose state is kept in one of several forms. Which one is seen by looking; where there is no state
// yet it is the first that the server takes.
type remote struct {
	clients []*git.Client
	current int
}

// newRemote returns an error if the repository or a credential is not valid. It contacts nobody.
func newRemote(spec *configv1alpha1.ProviderConfigSpec, auth git.Auth, bundle []byte) (*remote, error) {
	r := &remote{}
	for _, ref := range stateRefs(spec) {
		c, err := git.NewClient(git.Remote{URL: spec.Git.URL, Branch: spec.Git.Branch, StateRef: ref, Auth: auth, CABundle: bundle})
		if err != nil {
			return nil, errors.Wrap(err, "spec.git")
		}
		r.clients = append(r.clients, c)
	}
	return r, nil
}

// stateRefs lists the refs that may hold the state, the best first.
func stateRefs(spec *configv1alpha1.ProviderConfigSpec) []string {
	ref, branch := "refs/intentplane/"+spec.ControlPlane+"/state", "refs/heads/intentplane-state/"+spec.ControlPlane
	switch spec.Git.State.Form {
	case configv1alpha1.StateRef:
		return []string{ref}
	case configv1alpha1.StateBranch:
		return []string{branch}
	}
	return []string{ref, branch}
}

// client that speaks about the form in use.
func (r *remote) client() *git.Client { return r.clients[r.current] }

// look returns what the repository holds.
func (r *remote) look(ctx context.Context) (*git.Snapshot, error) {
	first := r.current
	s, err := r.client().Look(ctx, nil)
	if err != nil || s.StateTip() != "" {
		return s, err
	}
	for i := first + 1; i < len(r.clients); i++ {
		other, err := r.clients[i].Look(ctx, nil)
		if err != nil {
			return nil, err
		}
		if other.StateTip() != "" {
			r.current = i
			return other, nil
		}
	}
	return s, nil
}

// fallBack to the next form. It is false if there is none.
func (r *remote) fallBack() bool {
	if r.current+1 == len(r.clients) {
		return false
	}
	r.current++
	return true
}

func (r *remote) close() {
	for _, c := range r.clients {
		c.Close()
	}
}
