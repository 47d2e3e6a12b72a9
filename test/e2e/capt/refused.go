package capt

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// message of the Ready condition, once it has this reason.
func (l *life) message(reason xpv2.ConditionReason) string {
	l.Helper()
	return l.ready(reason).GetCondition(xpv2.TypeReady).Message
}

// nothing was made.
func (l *life) nothing() {
	l.Helper()
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		if l.live(kind) != nil {
			l.Errorf("%s was made", kind)
		}
	}
}
