package canary

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/test/kubelet"
)

// TestSiteSync compares the tracks in the status of a SiteSync with real requests. It reads the Site with no more rights than the examples give.
func TestSiteSync(t *testing.T) {
	t.Parallel()
	s := newServingShop(t)
	s.requireNoError(cp.ApplyYAML(t.Context(), fmt.Appendf(nil, catalog, s.namespace, cp.Git.URL(s.namespace), sitePath)))
	account, err := s.Account(t.Context())
	s.requireNoError(err)
	s.requireNoError(cp.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "edge"}, Data: map[string][]byte{"value": account}}))

	files := s.filesBeside(track.Blue, 1, 2, 20)
	s.commitFiles(files)
	position := ledger.Position{Epoch: 1, Revision: 2, Stage: 3}
	s.askForDirectory(files, position, nil)
	green := s.awaitGreenTrack("idle and available", func(o deliveryv1alpha1.TrackObservation) bool { return o.Idle && o.AvailableTree != "" })
	if green.ProvenAt == nil || *green.ProvenAt != position || green.AvailableTree != track.FolderID(files, track.Green) {
		t.Errorf("a track without requests is proven by the position that was asked for: got %+v", green)
	}
	if got := s.target.Send(t.Context(), 200, atOnce); got.Share(track.Green) > 0 {
		t.Errorf("a track that is idle gets requests: %s", got)
	}

	files = s.filesInState(files, track.State{Serving: track.Blue, Weight: 20, Ahead: 20})
	position.Step = 1
	s.askForDirectory(files, position, nil)
	s.awaitSiteState(string(deliveryv1alpha1.SiteSyncing) + " " + deliveryv1alpha1.SiteReasonOtherTree)
	s.commitFiles(files)
	s.awaitSiteState(string(deliveryv1alpha1.SiteLive) + " ")
	if green := s.observedGreen(); green.Weight == nil || *green.Weight != 20 || green.Idle || green.IdleSince != nil {
		t.Errorf("a track with requests is not idle: got %+v", green)
	}

	// The provider makes Flux look, which takes weights back at once.
	s.awaitSiteState(string(deliveryv1alpha1.SiteSyncing)+" "+gatewayapi.ReasonTrafficDiffers, func() { s.patchWeights(track.Green) })

	files = withAnnotation(files, kubelet.AnnotationReadyAfter, time.Hour)
	position.Revision, position.Step = 3, 0
	s.commitFiles(files)
	s.askForDirectory(files, position, &position)
	s.awaitSiteState(string(deliveryv1alpha1.SiteSyncing) + " " + gatewayapi.ReasonCanaryNotAvailable)
	if green := s.observedGreen(); green.AvailableTree != "" {
		t.Errorf("an earlier proof makes changed pods available: got %+v", green)
	}
}
