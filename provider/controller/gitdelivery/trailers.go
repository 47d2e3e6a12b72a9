package gitdelivery

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/objects"
)

// A commitTrailers is what a commit of ours says of the order that it applied. Any user who may push can write the same.
type commitTrailers struct {
	commit       string
	date         metav1.Time
	claim        rolloutv1alpha1.ClaimReference
	controlPlane string
	cluster      string
	revision     int64
	step         int32
	attempt      int32
	request      string
	intent       string
	scheme       int32
	renderer     int32
	verdict      string
	target       int64
	removes      bool
}

// parseCommitTrailers reads a commit. It is false for one that is not ours.
func parseCommitTrailers(n git.Message) (commitTrailers, bool) {
	said := lastBlock(n.Message)
	t := commitTrailers{
		commit: n.ID, date: metav1.Unix(n.Seconds, 0),
		controlPlane: said[trailerControlPlane], cluster: said[trailerCluster],
		request: cmp.Or(said[trailerDigest], said[trailerRequest]), intent: said[trailerIntent], verdict: said[trailerVerdict],
		scheme: 1, renderer: 1,
	}
	var ok bool
	if t.claim, ok = parseClaim(said[trailerClaim]); !ok {
		return commitTrailers{}, false
	}
	if words := said[trailerVersions]; words != "" {
		if _, err := fmt.Sscanf(words, "digests %d, renderer %d", &t.scheme, &t.renderer); err != nil {
			return commitTrailers{}, false
		}
	}
	for _, number := range []struct {
		text string
		into *int32
	}{{said[trailerStep], &t.step}, {said[trailerAttempt], &t.attempt}} {
		n, err := strconv.ParseInt(number.text, 10, 32)
		if err != nil || n < 0 {
			return commitTrailers{}, false
		}
		*number.into = int32(n)
	}
	var err error
	if t.revision, err = strconv.ParseInt(said[trailerRevision], 10, 64); err != nil || t.revision < 1 {
		return commitTrailers{}, false
	}
	if t.target, err = strconv.ParseInt(zeroIfEmpty(said[trailerTarget]), 10, 64); err != nil {
		return commitTrailers{}, false
	}
	t.removes = strings.HasPrefix(n.Message, deletion+t.claim.Namespace+"/"+t.claim.Name+"\n")
	return t, true
}

func zeroIfEmpty(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// lastBlock returns the trailers of a message.
func lastBlock(message string) map[string]string {
	message = strings.TrimRight(message, "\n")
	if i := strings.LastIndex(message, "\n\n"); i >= 0 {
		message = message[i+2:]
	}
	out := map[string]string{}
	for line := range strings.Lines(message) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			out[name] = value
		}
	}
	return out
}

// parseClaim reads what the trailer of a claim says: group/Kind namespace/name.
func parseClaim(s string) (rolloutv1alpha1.ClaimReference, bool) {
	kind, name, ok := strings.Cut(s, " ")
	group, kind, ok2 := strings.Cut(kind, "/")
	ns, name, ok3 := strings.Cut(name, "/")
	c := rolloutv1alpha1.ClaimReference{APIGroup: group, Kind: kind, Namespace: ns, Name: name}
	plain := ok && ok2 && ok3 && kind != "" && !strings.ContainsAny(s, "\\") && !strings.Contains(ns+name, "/")
	return c, plain && objects.CheckPath(group+"/"+ns+"/"+name) == nil
}

// appliedOrder returns the order that the commit applied, as far as it says. A revision that was rolled back had been rejected.
func (t commitTrailers) appliedOrder() rolloutv1alpha1.Order {
	o := rolloutv1alpha1.Order{
		Revision: t.revision, Request: t.request, Intent: unknownIfEmpty(t.intent), DigestScheme: t.scheme, RendererVersion: t.renderer,
		Steps: t.step + 1, Step: t.step, Attempt: t.attempt,
	}
	if t.target > 0 {
		o.Target = &t.target
	}
	if t.attempt > 0 {
		_, reason, _ := strings.Cut(t.verdict, " ")
		o.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected, Reason: reason}
	}
	return o
}

func unknownIfEmpty(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
