package gitdelivery

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/objects"
)

// A commitTrailers is what a commit of ours says of the revision that it brought. Any user who may push can write the same.
type commitTrailers struct {
	commit       string
	date         metav1.Time
	claim        rolloutv1alpha1.ClaimReference
	controlPlane string
	cluster      string
	revision     int64
	removes      bool
}

// parseCommitTrailers reads a commit. It is false for one that is not ours.
func parseCommitTrailers(n git.Message) (commitTrailers, bool) {
	said := lastBlock(n.Message)
	t := commitTrailers{commit: n.ID, date: metav1.Unix(n.Seconds, 0), controlPlane: said[trailerControlPlane], cluster: said[trailerCluster]}
	var ok bool
	if t.claim, ok = parseClaim(said[trailerClaim]); !ok {
		return commitTrailers{}, false
	}
	var err error
	if t.revision, err = strconv.ParseInt(said[trailerRevision], 10, 64); err != nil || t.revision < 1 {
		return commitTrailers{}, false
	}
	t.removes = strings.HasPrefix(n.Message, deletion+t.claim.Namespace+"/"+t.claim.Name+"\n")
	return t, true
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
