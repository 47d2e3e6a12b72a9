package sitesync

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/proof"
)

const (
	// retryInterval is when a commit is fetched again that could not be.
	retryInterval = 30 * time.Second
)

// A connector makes externals.
type connector struct {
	// kube reads from the cache, and from the API server for kinds that the cache must not hold.
	kube client.Client
	// metadata has the metadata of Secrets, from watches.
	metadata client.Reader
	pool     *clusters.Pool
	prover   *prover
	// readiness caches the readiness of clusters, and prober asks their API servers.
	readiness *readinessCache
	prober    clusterapi.Asker
	limits    clusters.Limits
	memory    *memory
	log       logging.Logger
	now       func() time.Time
}

// Connect opens no connection.
func (c *connector) Connect(_ context.Context, s *v1alpha1.SiteSync) (managed.TypedExternalClient[*v1alpha1.SiteSync], error) {
	key := client.ObjectKeyFromObject(s)
	return &external{connector: c, look: c.pool.Look(key), note: c.memory.NoteOf(s)}, nil
}

// An external is the Sites of one SiteSync, for one reconcile.
type external struct {
	*connector

	look *clusters.Look
	note *note
	// quick is true for a look that writes nothing.
	quick bool

	// Observe fills these for Update of the same reconcile.
	readings     []reading
	syncRequests []syncRequest
	decision     proof.Decision
	// request is the digest of the request of the asked revision, as the ledger says, or "".
	request string
}

// A syncRequest asks an engine to sync now.
type syncRequest struct {
	site       string
	token      string
	cluster    *clusters.Cluster
	annotation engines.Annotation
}

// Observe compares the observed with the desired trees of the Sites. It writes nothing. A SiteSync exists until it is deleted, and has no external
// objects.
func (e *external) Observe(ctx context.Context, s *v1alpha1.SiteSync) (managed.ExternalObservation, error) {
	if meta.WasDeleted(s) {
		return managed.ExternalObservation{}, nil
	}
	s.Status.SetObservedGeneration(s.GetGeneration())
	f, err := e.gatherFacts(ctx, s)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if !e.quick {
		e.note.reconciledAt = f.Now
	}
	e.decision = proof.Decide(f)
	e.updateStatus(s, e.decision)
	e.requestSyncs(f, e.decision)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: len(e.syncRequests) == 0}, nil
}

func readyCondition(s *v1alpha1.SiteSync, d proof.Decision) xpv2.Condition {
	status := corev1.ConditionFalse
	if d.Reason == v1alpha1.ReasonLive {
		status = corev1.ConditionTrue
	}
	c := xpv2.Condition{Type: xpv2.TypeReady, Status: status, LastTransitionTime: metav1.Now(), Reason: d.Reason, Message: d.Message}
	return c.WithObservedGeneration(s.GetGeneration())
}

func isProofUnknown(d proof.Decision) bool {
	for _, site := range d.Next.Sites {
		if site.Reason == v1alpha1.SiteReasonProofUnknown {
			return true
		}
	}
	return false
}

// requestSyncs has Update ask the engines of Sites which do not run their tree to sync now, once for each position and commit.
func (e *external) requestSyncs(f proof.Facts, d proof.Decision) {
	for i, site := range d.Next.Sites {
		if i >= len(e.readings) || e.readings[i].main == nil {
			continue
		}
		r := e.readings[i]
		if !isBehindTree(site) {
			continue
		}
		token := r.syncRequestToken(f.Spec)
		if e.note.requested[site.Name] == token {
			continue
		}
		a, ok := engines.RefreshAnnotation(r.engine, r.main, r.second, token)
		if !ok {
			continue
		}
		e.syncRequests = append(e.syncRequests, syncRequest{site: site.Name, token: token, cluster: r.cluster, annotation: a})
	}
}

// isBehindTree is true for a Site whose engine may still apply the Site's tree. A Site that timed out is behind all the same: its time may
// have passed before its engine could be asked at all.
func isBehindTree(site v1alpha1.SiteObservation) bool {
	return site.State == v1alpha1.SiteSyncing || site.State == v1alpha1.SiteTimedOut
}

// syncRequestToken identifies the request of a sync. It is the same for the same position and commit.
func (r reading) syncRequestToken(spec v1alpha1.SiteSyncParameters) string {
	c := spec.ClaimRef
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%s %v %s", c.APIGroup, c.Namespace, c.Name, spec.AskedPosition(), r.delivered))
	return "intentplane-" + hex.EncodeToString(sum[:8])
}

// Create is never called: a SiteSync exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.SiteSync) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update asks engines to sync now. An engine that cannot be asked syncs by itself, an interval later, so that is not a failure.
func (e *external) Update(ctx context.Context, s *v1alpha1.SiteSync) (managed.ExternalUpdate, error) {
	claim, p := s.Spec.ForProvider.ClaimRef, e.decision.Spec.AskedPosition()
	for _, w := range e.syncRequests {
		e.note.requested[w.site] = w.token
		if err := w.cluster.Annotate(ctx, w.annotation); err != nil {
			e.log.Info("Cannot ask engine to look now", "claim", claim.Namespace+"/"+claim.Name, "group", claim.APIGroup,
				"revision", p.Revision, "step", p.Step, "request", e.request, "site", w.site, "object", w.annotation.On.String(), "error", err)
		}
	}
	return managed.ExternalUpdate{}, nil
}

// Delete is never called: a SiteSync has no external objects.
func (e *external) Delete(context.Context, *v1alpha1.SiteSync) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

// Disconnect drops the caches of objects that were not read this time.
func (e *external) Disconnect(context.Context) error {
	e.look.Done()
	return nil
}
