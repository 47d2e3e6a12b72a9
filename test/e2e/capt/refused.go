package capt

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// messageOfReady returns the message of the Ready condition, once it has this reason.
func (l *life) messageOfReady(reason xpv2.ConditionReason) string {
	l.Helper()
	return l.awaitReadyReason(reason).GetCondition(xpv2.TypeReady).Message
}

// wantNothingMade was made.
func (l *life) wantNothingMade() {
	l.Helper()
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		if l.liveObject(kind) != nil {
			l.Errorf("%s was made", kind)
		}
	}
}
