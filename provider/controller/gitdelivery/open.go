package gitdelivery

import (
	"context"
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/trailers"
)

// An Opener opens the repositories of configurations as deliveries do, and shares them with these.
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

// Open opens the repository that a reference in a namespace names. Anyone is true for who may use each ClusterProviderConfig. It contacts no server. It
// returns an error, of which ReasonOf knows the reason, if the configuration or a credential is missing, not valid, or not for the namespace.
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

// ReasonOf returns the reason that an error gives in the Ready condition of a GitDelivery.
func ReasonOf(err error) xpv2.ConditionReason { return readyReasonOf(err) }

// MessageOf returns what an error says in the Ready condition of a GitDelivery.
func MessageOf(err error) string { return failureMessage(err) }

// IsSameMessage reports whether two messages say the same, but for the numbers, times and ids that a server puts into what it says.
func IsSameMessage(a, b string) bool { return oneline.DiffersInSerialsOnly(a, b) }

// CommitMessage returns the message of a commit that removes directories which no object owns any more: a subject, and trailers by which the control
// plane finds it again. What it is given is made one line each.
func CommitMessage(subject, controlPlane, clusterUID string, further ...[2]string) string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s\n\n", oneLine(subject))
	for _, t := range append([][2]string{{trailers.ControlPlane, controlPlane}, {trailers.Cluster, clusterUID}}, further...) {
		text.WriteString(trailers.Line(t[0], oneLine(t[1])))
	}
	return text.String()
}

// Trailer returns what a commit of ours says under a name.
func Trailer(m git.Message, name string) string { return lastBlock(m.Message)[name] }
