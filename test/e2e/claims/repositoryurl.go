package claims

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// observedDeliveries is the state that a wrong URL must not change: the ledger with its revision and verdict, the record, and the history.
func observedDeliveries(s *scene.Scene) map[string]deliveryv1alpha1.GitDeliveryObservation {
	s.T.Helper()
	out := map[string]deliveryv1alpha1.GitDeliveryObservation{}
	for _, d := range s.Deliveries() {
		observation := d.Status.AtProvider
		out[d.GetName()] = deliveryv1alpha1.GitDeliveryObservation{Ledger: observation.Ledger, Record: observation.Record, History: observation.History, Remote: observation.Remote, Trees: observation.Trees}
	}
	return out
}
