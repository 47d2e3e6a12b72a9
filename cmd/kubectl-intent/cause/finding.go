package cause

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
)

// A Link of the chain is one object that was followed, with its report.
type Link struct {
	// Kind whose advice there is about the reason. Empty for an object that is not Intentplane's.
	Kind advice.Kind `json:"-"`

	// Object, as a person would name it.
	Object string `json:"object"`

	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
}

// adviceForLink returns the advice for a link.
func (l Link) adviceForLink() (advice.Advice, bool) { return advice.For(l.Kind, l.Reason) }

// A Finding is why something does not go on.
type Finding struct {
	// IsGood is true if nothing is in the way.
	IsGood bool `json:"isGood"`

	// Chain from the object that the user made to the blocking object, which is the cause.
	Chain []Link `json:"chain,omitempty"`

	// Actor who has to act, the action, and the event that makes the object go on then.
	Actor        advice.Actor `json:"actor"`
	EndsByItself bool         `json:"endsByItself"`
	Do           string       `json:"do,omitempty"`
	Wakes        advice.Wake  `json:"wakes,omitempty"`

	// Meanwhile says how the provider went on by its mandate since the function wrote the status, or why it holds the next step back. Empty if the status is up
	// to date.
	Meanwhile string `json:"meanwhile,omitempty"`

	// Waiting are RolloutRequests that wait.
	Waiting []Link `json:"waiting,omitempty"`

	// Unread names the unreadable objects.
	Unread []Unread `json:"unread,omitempty"`
}

// NeedsPerson is true for a problem that stays until a person acts.
func (f Finding) NeedsPerson() bool {
	return advice.Advice{EndsByItself: f.EndsByItself, Actor: f.Actor}.NeedsPerson()
}

// Cause returns the last link that says something. The composite of a claim is followed, and may say nothing.
func (f Finding) Cause() Link {
	for _, l := range slices.Backward(f.Chain) {
		if l.Reason != "" || l.Message != "" {
			return l
		}
	}
	return Link{}
}

// Reason returns the reason of the last link that gives one.
func (f Finding) Reason() string {
	for _, l := range slices.Backward(f.Chain) {
		if l.Reason != "" {
			return l.Reason
		}
	}
	return ""
}

// Since returns since when the cause is there, by the last link with a time.
func (f Finding) Since() *metav1.Time {
	for _, l := range slices.Backward(f.Chain) {
		if l.Since != nil {
			return l.Since
		}
	}
	return nil
}

// concludeChain returns the finding of a chain: the last link that there is advice about says who acts. A revision that was rejected, or that
// a user has to decide about, does not go on by itself although its cause may.
func concludeChain(chain []Link) Finding {
	out := Finding{Chain: chain, Actor: advice.NoActor}
	isKnown := false
	for i := len(chain) - 1; i >= 0 && !isKnown; i-- {
		var a advice.Advice
		if a, isKnown = chain[i].adviceForLink(); isKnown {
			out.Actor, out.EndsByItself, out.Do, out.Wakes = a.Actor, a.EndsByItself, a.Do, a.Wakes
		}
	}
	if len(chain) == 0 {
		return out
	}
	root, rootKnown := chain[0].adviceForLink()
	if !rootKnown || !root.NeedsPerson() || !isKnown {
		return out
	}
	return out.withRootAdvice(root)
}

// withRootAdvice returns the finding below a root that needs a person, for any cause: a revision that was rejected is not retried when its cause
// ends.
func (f Finding) withRootAdvice(root advice.Advice) Finding {
	isDecided := root.Wakes == advice.WakeRequest || root.Wakes == advice.WakePromote
	switch {
	case f.Actor == advice.NoActor:
		f.Actor, f.Do, f.Wakes, f.EndsByItself = root.Actor, root.Do, root.Wakes, false
	case isDecided && f.Wakes != advice.WakeRequest && f.Wakes != advice.WakePromote:
		f.Do += " " + afterwards
		f.Wakes, f.EndsByItself = root.Wakes, false
	}
	return f
}

// afterwards is the action of a user once the cause of a rejection is gone.
const afterwards = "Then change the intent, or use kubectl intent retry."
