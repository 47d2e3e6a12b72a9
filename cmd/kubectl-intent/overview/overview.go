// Package overview formats the output of kubectl intent status and of other commands: objects of Bundles, Applications, deployments and clusters come in, and
// lines go out. It is pure.
package overview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// An Overview is the summary of one Bundle, Application, deployment or cluster.
type Overview struct {
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	Kind      string       `json:"kind"`
	Group     string       `json:"group"`
	Phase     string       `json:"phase,omitempty"`
	Outcome   string       `json:"outcome,omitempty"`
	Since     *metav1.Time `json:"since,omitempty"`
	Message   string       `json:"message,omitempty"`

	// Finding is why it does not go on.
	Finding cause.Finding `json:"finding"`

	// Revisions, the newest first. The first one has parts.
	Revisions []Revision `json:"revisions,omitempty"`

	// Parts are the parts of the present revision, or of the cluster.
	Parts []Part `json:"parts,omitempty"`

	// Version of a cluster or a Bundle, Endpoint and SiteName of a cluster.
	Version  string `json:"version,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	SiteName string `json:"siteName,omitempty"`

	// Image of an Application, how many of its Sites serve, and its URL.
	Image     string `json:"image,omitempty"`
	Available string `json:"available,omitempty"`
	URL       string `json:"url,omitempty"`

	// Packages says how many packages of a Bundle run their desired spec, such as 3/4.
	Packages string `json:"packages,omitempty"`
}

// A Revision is one line of the history.
type Revision struct {
	Number      int64        `json:"number"`
	Commit      string       `json:"commit,omitempty"`
	Verdict     string       `json:"verdict,omitempty"`
	IsTarget    bool         `json:"isTarget,omitempty"`
	IsLive      bool         `json:"isLive,omitempty"`
	Sites       string       `json:"sites,omitempty"`
	RequestedBy string       `json:"requestedBy,omitempty"`
	Since       *metav1.Time `json:"since,omitempty"`

	// Reason and Message of a rejection.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// A Part is a delivery, a Site, a Gate, a canary or a request of the present revision, an object of a cluster, or a package of a Bundle.
type Part struct {
	Kind   string       `json:"kind"`
	Name   string       `json:"name"`
	State  string       `json:"state"`
	Note   string       `json:"note,omitempty"`
	Commit string       `json:"commit,omitempty"`
	Detail string       `json:"detail,omitempty"`
	Until  *metav1.Time `json:"until,omitempty"`
	Since  *metav1.Time `json:"since,omitempty"`

	// IsGood is true if no one need look at it.
	IsGood bool `json:"isGood"`
}

const (
	// outcomeRolledBack is the outcome of a composite whose desired state was rejected.
	outcomeRolledBack = string(deploymentv1alpha1.OutcomeRolledBack)

	// outcomeHeldBack stands for the outcome of a request that is held back, after an earlier one ended.
	outcomeHeldBack = "HeldBack"

	// phasePending is the phase of a composite whose status is about an earlier spec. All kinds begin with it.
	phasePending = string(deploymentv1alpha1.PhasePending)
)

// Kinds of parts.
const (
	partDelivery = "delivery"
	partSite     = "site"
	partGate     = "gate"
	partCanary   = "canary"
	partRequest  = "request"
)

// ForDeployment returns the overview of a deployment.
func ForDeployment(f *cause.Facts, found cause.Finding) Overview {
	d := &f.Deployment
	out := Overview{
		Namespace: d.Metadata.Namespace, Name: d.Metadata.Name, Kind: d.Kind, Group: groupOfAPIVersion(d.APIVersion),
		Phase: string(d.Status.Phase), Outcome: outcomeOfDeployment(d), Message: d.Status.Message, Finding: found,
	}
	if n := len(d.Status.Transitions); n > 0 {
		out.Since = &d.Status.Transitions[n-1].At
	}
	out.leaveEarlierSpec(f.IsAnswered())
	out.Revisions = listRevisions(f)
	out.Parts = slices.Concat(canaryParts(d), deliveryParts(f), siteParts(f), gateParts(f), requestParts(f))
	return out
}

// outcomeOfDeployment is the outcome of the present request, or HeldBack where that waits behind an ended request.
func outcomeOfDeployment(d *cause.Deployment) string {
	if d.Status.IsOfEarlierRequest() {
		return outcomeHeldBack
	}
	return string(d.Status.Outcome)
}

// leaveEarlierSpec drops all that a status says about the desired state if that is of an earlier spec. What runs, such as the revisions, stays.
func (o *Overview) leaveEarlierSpec(isAnswered bool) {
	if !isAnswered {
		o.Phase, o.Outcome, o.Message, o.Since = phasePending, "", "The status does not describe the current spec yet.", nil
		o.Image, o.Available, o.URL, o.Packages = "", "", "", ""
	}
}

func groupOfAPIVersion(apiVersion string) string {
	return schema.FromAPIVersionAndKind(apiVersion, "").Group
}

// ForCluster returns the overview of a WorkloadCluster.
func ForCluster(f *cause.ClusterFacts, found cause.Finding) Overview {
	c := &f.Cluster
	out := Overview{
		Namespace: c.Metadata.Namespace, Name: c.Metadata.Name, Kind: c.Kind, Group: groupOfAPIVersion(c.APIVersion),
		Phase: string(c.Status.Phase), Message: c.Status.Message, Finding: found, Version: c.Status.Version, SiteName: c.Status.SiteName,
	}
	if e := c.Status.Endpoint; e != nil && e.Host != "" {
		out.Endpoint = fmt.Sprintf("%s:%d", e.Host, e.Port)
	}
	if n := len(c.Status.Transitions); n > 0 {
		out.Since = &c.Status.Transitions[n-1].At
	}
	out.leaveEarlierSpec(f.IsAnswered())
	if f.Managed != nil {
		for _, o := range f.Managed.Status.AtProvider.Objects {
			state := o.Reason
			if o.Ready {
				state = "Ready"
			}
			out.Parts = append(out.Parts, Part{Kind: o.Kind, Name: o.Name, State: cmp.Or(state, "NotReady"), Detail: o.Message, IsGood: o.Ready})
		}
	}
	return out
}

// listRevisions returns the revisions of the ledger, the newest first. Without a ledger there is the present one alone.
func listRevisions(f *cause.Facts) []Revision {
	d, s := &f.Deployment, f.Ledger()
	if d.Status.Revision == 0 {
		return nil
	}
	now := Revision{
		Number: d.Status.Revision, Commit: cmp.Or(commitOfRevision(f, d.Status.Revision), presentCommit(d)), Sites: d.Status.Delivery.SitesReady, RequestedBy: requesterOf(f, d.Status.Revision),
		IsLive: d.Status.LiveRevision == d.Status.Revision, Since: startTimeInStatus(d, d.Status.Revision),
	}
	if s.Current != nil && s.Current.Number == now.Number {
		now.Verdict = verdictText(s.Verdict, false)
		now.Reason, now.Message = rejectionOf(s.Verdict)
		now.RequestedBy = cmp.Or(now.RequestedBy, originOfCurrent(s))
	}
	out := []Revision{now}
	for _, p := range slices.Backward(s.History) {
		if p.Number == now.Number {
			continue
		}
		past := pastRevision(p, s.Target)
		past.Commit, past.RequestedBy, past.IsLive = commitOfRevision(f, p.Number), cmp.Or(requesterOf(f, p.Number), originOfPast(s, p)), p.Number == d.Status.LiveRevision
		out = append(out, past)
	}
	return out
}

// pastRevision returns the ledger's record of a revision that ended.
func pastRevision(p ledger.Past, target int64) Revision {
	reason, message := rejectionOf(p.Verdict)
	return Revision{
		Reason: reason, Message: message, Number: p.Number, Verdict: cmp.Or(verdictText(p.Verdict, p.Withdrawn), "Superseded"), IsTarget: p.Number == target, Sites: sitesOfPast(p), Since: &p.EndedAt,
	}
}

// presentCommit is the commit that the status names, unless that belongs to a rollback.
func presentCommit(d *cause.Deployment) string {
	if d.Status.Rollback != nil && d.Status.Rollback.Attempts > 0 {
		return ""
	}
	return d.Status.Delivery.ShortCommit
}

func verdictText(v *ledger.Verdict, isWithdrawn bool) string {
	switch {
	case isWithdrawn:
		return "Withdrawn"
	case v == nil:
		return ""
	}
	return string(v.Result)
}

// rejectionOf returns the reason and the message of a verdict.
func rejectionOf(v *ledger.Verdict) (reason, message string) {
	if v == nil {
		return "", ""
	}
	return v.Reason, v.Message
}

// sitesOfPast returns the number of Sites that ran a verified revision.
func sitesOfPast(p ledger.Past) string {
	if len(p.Trees) == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%[1]d", len(p.Trees))
}

// commitOfRevision returns the first commit of a past revision that a GitDelivery remembers.
func commitOfRevision(f *cause.Facts, revision int64) string {
	for i := range f.Deliveries {
		for _, h := range f.Deliveries[i].Status.AtProvider.History {
			if h.Revision == revision && h.Commit != "" {
				return shortenCommit(h.Commit)
			}
		}
	}
	return ""
}

// shortCommit is how many digits of a commit are shown.
const shortCommit = 7

func shortenCommit(commit string) string { return commit[:min(shortCommit, len(commit))] }

// startTimeInStatus is when a revision began, as far as the status remembers it.
func startTimeInStatus(d *cause.Deployment, revision int64) *metav1.Time {
	for i := range d.Status.Transitions {
		if t := &d.Status.Transitions[i]; t.Revision == revision {
			return &t.At
		}
	}
	return nil
}

// canaryParts show how far a revision is that gets a share of the requests.
func canaryParts(d *cause.Deployment) []Part {
	c := d.Status.Canary
	if c == nil || c.State == "" {
		return nil
	}
	out := Part{Kind: partCanary, Name: c.Step, State: string(c.State), Until: c.Until}
	if c.Weight != nil {
		out.Note = fmt.Sprintf("%d%%", *c.Weight)
	}
	if c.Step != "" {
		out.Name = "step " + c.Step
	}
	if c.StableRevision != 0 {
		out.Detail = fmt.Sprintf("revision %d has the other requests", c.StableRevision)
	}
	if c.Promote != nil {
		out.Detail = "kubectl intent promote releases it"
	}
	return []Part{out}
}

// deliveryParts show the repositories.
func deliveryParts(f *cause.Facts) []Part {
	var out []Part
	for i := range f.Deliveries {
		d := &f.Deliveries[i]
		ready := d.Status.GetCondition(xpv2.TypeReady)
		p := Part{Kind: partDelivery, Name: d.Name, State: cmp.Or(string(ready.Reason), "Unknown"), IsGood: ready.Status == "True"}
		if r := d.Spec.ProviderConfigReference; r != nil {
			p.Name = r.Name
		}
		if remote := d.Status.AtProvider.Remote; remote != nil {
			p.Commit, p.Detail = shortenCommit(remote.Commit), repositoryAddress(remote.URL)+", "+remote.Branch
		}
		if !p.IsGood && ready.Message != "" {
			p.Detail = ready.Message
		}
		out = append(out, p)
	}
	return out
}

// repositoryAddress returns the URL of a repository without the scheme and the suffix .git.
func repositoryAddress(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		rest = url
	}
	return strings.TrimSuffix(rest, ".git")
}

// engineName is how people call the engine whose object is of a kind.
func engineName(e *deliveryv1alpha1.EngineObservation) string {
	if e == nil {
		return ""
	}
	return map[string]string{"Kustomization": "Flux", "Application": "Argo CD", "RootSync": "Config Sync", "RepoSync": "Config Sync"}[e.Kind]
}

// siteParts show the Sites: the deployment's report of each, and the details of the SiteSync.
func siteParts(f *cause.Facts) []Part {
	observed := map[string]deliveryv1alpha1.SiteObservation{}
	for i := range f.Syncs {
		for _, s := range f.Syncs[i].Status.AtProvider.Sites {
			observed[s.Name] = s
		}
	}
	var out []Part
	sites := f.Deployment.Status.Delivery.Sites
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		s := sites[name]
		p := Part{Kind: partSite, Name: name, State: string(s.State), Commit: shortenCommit(s.Commit), Detail: s.Message, Note: engineName(observed[name].Engine)}
		p.IsGood = s.State == deploymentv1alpha1.SiteLive || s.State == deploymentv1alpha1.SiteDelivered
		if p.IsGood && p.Detail == "" {
			p.Since = observed[name].LiveSince
		}
		if s.Weight != nil {
			p.Note = fmt.Sprintf("%s %d%%", p.Note, *s.Weight)
		}
		out = append(out, p)
	}
	return out
}

// gateParts show the Gate of the furthest step.
func gateParts(f *cause.Facts) []Part {
	g := f.CurrentGate()
	if g == nil {
		return nil
	}
	ready := g.Status.GetCondition(xpv2.TypeReady)
	p := Part{Kind: partGate, Name: fmt.Sprintf("step %d", g.Spec.ForProvider.AskedPosition().Step+1), State: cmp.Or(string(g.Status.AtProvider.Verdict), string(ready.Reason), "Unknown")}
	p.IsGood = g.Status.AtProvider.Verdict == rolloutv1alpha1.GatePassed
	passed := 0
	for _, c := range g.Status.AtProvider.Checks {
		if c.Phase == rolloutv1alpha1.CheckPassed {
			passed++
		}
	}
	p.Note = fmt.Sprintf("%d of %d", passed, len(g.Spec.ForProvider.Checks))
	if c := cause.DecidingCheck(g); c != nil && !p.IsGood {
		p.Detail = fmt.Sprintf("%s at %s: %s", c.Name, c.Site, cmp.Or(cause.SayCheck(c), string(c.Phase)))
	}
	return []Part{p}
}

// requestParts show the RolloutRequests that are not done.
func requestParts(f *cause.Facts) []Part {
	var out []Part
	for i := range f.Requests {
		r := &f.Requests[i]
		c := r.Status.GetCondition(rolloutv1alpha1.TypeCompleted)
		if c.Status == "True" || rolloutv1alpha1.Result(c.Reason).Final() {
			continue
		}
		out = append(out, Part{Kind: partRequest, Name: string(r.Spec.Action), State: cmp.Or(string(c.Reason), "Waiting"), Detail: cmp.Or(c.Message, r.Name)})
	}
	return out
}
