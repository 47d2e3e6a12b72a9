package gitdelivery

import (
	"context"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/repository"
)

// An Opener opens the repositories of configurations, and shares them with deliveries.
type Opener struct {
	Kube  client.Reader
	Pool  *repository.Pool
	Guard address.Guard
	Now   func() time.Time
}

// An OpenRepository is the repository of a configuration.
type OpenRepository struct {
	Repository *repository.Repository

	// Config that names the repository.
	Config *configv1alpha1.ProviderConfigSpec

	// ClusterUID is the UID of the cluster that writes.
	ClusterUID string
}

// Open opens the repository that a reference in a namespace names. anyone is true for a caller that may use each ClusterProviderConfig. Open contacts no
// server. It returns an error, for ReasonOf, if the configuration or a credential is missing, not valid, or not for the namespace.
func (o Opener) Open(ctx context.Context, ref rolloutv1alpha1.ConfigReference, namespace string, anyone bool) (OpenRepository, error) {
	cfg, err := configNamed(ctx, o.Kube, ref.Kind, client.ObjectKey{Namespace: namespace, Name: ref.Name})
	if err != nil {
		return OpenRepository{}, err
	}
	if err := policy.CheckConfig(cfg.kind, cfg.spec, namespace); err != nil && !anyone {
		return OpenRepository{}, &deniedError{err: err}
	}
	return o.openConfigured(ctx, cfg)
}

func (o Opener) openConfigured(ctx context.Context, cfg config) (OpenRepository, error) {
	creds, err := credentials.Read(ctx, o.Kube, cfg.credentialsConfig(o.Guard))
	if err != nil {
		return OpenRepository{}, err
	}
	forms, err := newClients(o.Pool, cfg.spec, creds, o.Now)
	if err != nil {
		return OpenRepository{}, &credentials.InvalidError{Field: "spec.git", Detail: err.Error()}
	}
	repo, err := o.Pool.Open(forms...)
	if err != nil {
		return OpenRepository{}, err
	}
	uid, err := clusterUID(ctx, o.Kube)
	return OpenRepository{Repository: repo, Config: cfg.spec, ClusterUID: uid}, err
}

// ReasonOf returns the reason for an error in the Ready condition of a GitDelivery.
func ReasonOf(err error) xpv2.ConditionReason { return readyReasonOf(err) }

// MessageOf returns the message for an error in the Ready condition of a GitDelivery.
func MessageOf(err error) string { return failureMessage(err) }

// IsSameMessage reports whether two messages differ only in the numbers, times and ids of a server's reply.
func IsSameMessage(a, b string) bool { return oneline.DiffersInSerialsOnly(a, b) }
