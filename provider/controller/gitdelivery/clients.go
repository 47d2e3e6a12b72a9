package gitdelivery

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git"
)

// newClients returns clients of a repository, one for each form that its state may have. It returns an error if the repository or a credential is not
// valid. It contacts no server. The clock says when keys end.
func newClients(spec *configv1alpha1.ProviderConfigSpec, creds credentials.Credentials, now func() time.Time) ([]*git.Client, error) {
	out := []*git.Client{}
	for _, ref := range stateRefs(spec) {
		c, err := git.NewClient(creds.Apply(git.Remote{URL: spec.Git.URL, Branch: spec.Git.Branch, StateRef: ref}), git.WithClock(now))
		if err != nil {
			return nil, errors.Wrap(err, "spec.git")
		}
		out = append(out, c)
	}
	return out, nil
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
