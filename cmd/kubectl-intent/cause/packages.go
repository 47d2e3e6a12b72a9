package cause

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
)

// FindForPackage returns why one of Crossplane's packages is not installed or not healthy.
func FindForPackage(o *Object, _ time.Time) Finding {
	return findFalseCondition(strings.ToLower(o.Kind)+" "+o.Metadata.Name, advice.ReasonPackageUnhealthy, o.Status.Conditions, typesOfPackage()...)
}

// FindForDefinition returns why a CompositeResourceDefinition is not established or not offered.
func FindForDefinition(o *Object, _ time.Time) Finding {
	return findFalseCondition("definition "+o.Metadata.Name, advice.ReasonDefinitionNotActive, o.Status.Conditions, typesOfDefinition()...)
}

func typesOfPackage() []string { return []string{typeInstalled, typeHealthy} }

func typesOfDefinition() []string { return []string{typeEstablished, typeOffered} }

// findFalseCondition returns the finding of an object one of whose conditions is false.
func findFalseCondition(object, reason string, all Conditions, types ...string) Finding {
	if l, ok := falseConditionLink(object, reason, all, types...); ok {
		return concludeChain([]Link{l})
	}
	return Finding{IsGood: true, Actor: advice.NoActor}
}

// falseConditionLink returns a link with the first false condition of some types.
func falseConditionLink(object, reason string, all Conditions, types ...string) (Link, bool) {
	for _, typ := range types {
		if c := all.Get(typ); c.Status == metav1.ConditionFalse {
			return Link{Kind: advice.Installation, Object: object, Reason: reason, Message: c.Words(), Since: c.lastTransition()}, true
		}
	}
	return Link{}, false
}
