// Package remote opens the repositories that configurations name, with their credentials, for all controllers that read or write them.
package remote

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// An Opener opens the repositories of configurations, which a pool shares among all objects.
type Opener struct {
	Kube client.Reader
	Pool *repository.Pool

	// Guard checks the addresses of ProviderConfigs of namespaces.
	Guard address.Guard

	// Now determines the expiry of keys.
	Now func() time.Time
}

// An Opened is the repository of a configuration.
type Opened struct {
	Repository *repository.Repository

	// Config that names the repository.
	Config *configv1alpha1.ProviderConfigSpec

	// ClusterUID is the UID of the cluster that writes.
	ClusterUID string
}

// Open opens the repository that a reference in a namespace names. anyone is true for a caller that may use each ClusterProviderConfig. Open contacts no
// server. It returns an error, for ReasonOf, if the configuration or a credential is missing, not valid, or not for the namespace.
func (o Opener) Open(ctx context.Context, ref rolloutv1alpha1.ConfigReference, namespace string, anyone bool) (Opened, error) {
	c, err := ReadConfig(ctx, o.Kube, &xpv2.ProviderConfigReference{Kind: ref.Kind, Name: ref.Name}, namespace)
	if err != nil {
		return Opened{}, err
	}
	return o.OpenConfig(ctx, c, namespace, anyone)
}

// OpenConfig opens the repository of a configuration for a namespace, as Open does.
func (o Opener) OpenConfig(ctx context.Context, c Config, namespace string, anyone bool) (Opened, error) {
	if err := policy.CheckConfig(c.Kind, c.Spec, namespace); err != nil && !anyone {
		return Opened{}, &deniedError{err: err}
	}
	creds, err := credentials.Read(ctx, o.Kube, credentials.Config{Kind: c.Kind, Namespace: c.Namespace, Remote: c.Spec.Git, Guard: o.Guard})
	if err != nil {
		return Opened{}, err
	}
	forms, err := newStateClients(o.Pool, c.Spec, creds, o.Now)
	if err != nil {
		return Opened{}, &credentials.InvalidError{Field: "spec.git", Detail: err.Error()}
	}
	repo, err := o.Pool.Open(forms...)
	if err != nil {
		return Opened{}, err
	}
	uid, err := readClusterUID(ctx, o.Kube)
	return Opened{Repository: repo, Config: c.Spec, ClusterUID: uid}, err
}

// readClusterUID returns the UID of the namespace kube-system, which is constant while the cluster's API server has its data. No other object exists in every
// cluster for that long.
func readClusterUID(ctx context.Context, r client.Reader) (string, error) {
	ns := &corev1.Namespace{}
	err := r.Get(ctx, client.ObjectKey{Name: "kube-system"}, ns)
	return string(ns.GetUID()), errors.Wrap(err, "cannot get namespace kube-system, whose uid says which cluster this is")
}

// newStateClients returns clients of a repository for a pool, one for each possible form of its state. It returns an error if the repository or a credential is
// not valid. It contacts no server. The clock determines the expiry of keys.
func newStateClients(pool *repository.Pool, spec *configv1alpha1.ProviderConfigSpec, creds credentials.Credentials, now func() time.Time) ([]*git.Client, error) {
	out := []*git.Client{}
	for _, ref := range possibleStateRefs(spec) {
		c, err := pool.NewClient(creds.Apply(git.Remote{URL: spec.Git.URL, Branch: spec.Git.Branch, StateRef: ref}), git.WithClock(now))
		if err != nil {
			return nil, errors.Wrap(err, "spec.git")
		}
		out = append(out, c)
	}
	return out, nil
}

// possibleStateRefs lists the refs that may hold the state, the best first.
func possibleStateRefs(spec *configv1alpha1.ProviderConfigSpec) []string {
	ref, branch := state.Ref(spec.ControlPlane), state.BranchRef(spec.ControlPlane)
	switch spec.Git.State.Form {
	case configv1alpha1.StateRef:
		return []string{ref}
	case configv1alpha1.StateBranch:
		return []string{branch}
	}
	return []string{ref, branch}
}
