package bundlestate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// maxMessage bounds the message of a package, as the schema does, in characters, and maxPackages how many packages a status lists.
const (
	maxMessage  = 512
	maxPackages = 128
)

// A verb is what is done to an object.
type verb string

// Verbs.
const (
	verbCreate verb = "create"
	verbUpdate verb = "update"
	verbLabel  verb = "label"
	verbRemove verb = "remove"
)

// An action changes one object.
type action struct {
	verb verb

	// pkg is what is asked for, of an action that creates or updates.
	pkg *v1alpha1.BundlePackage

	// object as it was seen, of an action that does not create.
	object *object

	// owner that the object gets, and unreferencedSince the time that its annotation gets. Empty removes the annotation.
	owner             v1alpha1.BundleReference
	unreferencedSince string
}

// A decision is what follows from facts.
type decision struct {
	// packages of the bundle in their order, and behind them those that left it, by their names.
	packages []v1alpha1.PackageObservation

	// status of the bundle, in the words of the record.
	status string

	// actions in their order.
	actions []action

	// remains says of a bundle that is being deleted that there is still something to do.
	remains bool
}

// A decider decides on one package after the other.
type decider struct {
	*facts

	decided map[string]v1alpha1.PackageObservation
	actions []action
	remains bool
}

// decide on all packages. It is pure: the same facts give the same decision.
func decide(f *facts) decision {
	d := &decider{facts: f, decided: map[string]v1alpha1.PackageObservation{}}
	for _, p := range sortByLayer(f.spec.Packages) {
		d.decided[p.Name] = d.decidePackage(p)
	}
	out := decision{}
	for _, p := range f.spec.Packages {
		out.packages = append(out.packages, d.decided[p.Name])
	}
	for _, key := range slices.SortedFunc(maps.Keys(f.objects), compareKeys) {
		if o := f.objects[key]; f.isOwned(o) && !f.names(key) {
			out.packages = append(out.packages, d.decideLeft(key, o)...)
		}
	}
	out.packages = out.packages[:min(len(out.packages), maxPackages)]
	out.actions, out.remains, out.status = d.actions, d.remains, d.statusOfBundle()
	return out
}

// sortByLayer returns packages so that each is behind those that it depends on.
func sortByLayer(all []v1alpha1.BundlePackage) []*v1alpha1.BundlePackage {
	out := make([]*v1alpha1.BundlePackage, 0, len(all))
	for i := range all {
		out = append(out, &all[i])
	}
	slices.SortStableFunc(out, func(a, b *v1alpha1.BundlePackage) int { return cmp.Compare(a.Layer, b.Layer) })
	return out
}

func compareKeys(a, b objectKey) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind), cmp.Compare(a.group, b.group))
}

// names reports whether the spec asks for an object.
func (f *facts) names(key objectKey) bool {
	return slices.ContainsFunc(f.spec.Packages, func(p v1alpha1.BundlePackage) bool { return keyOf(&p) == key })
}

// decidePackage decides on one package, after those that it depends on.
func (d *decider) decidePackage(p *v1alpha1.BundlePackage) v1alpha1.PackageObservation {
	out := v1alpha1.PackageObservation{
		Name: p.Name, Kind: p.Kind, Version: d.was[p.Name].Version, Digest: p.Digest, UsedBy: namesOf(d.users(keyOf(p))),
	}
	switch {
	case p.IsExisting() && d.isDeleted:
		d.sayAbsent(p, &out)
	case p.IsExisting():
		d.observeExisting(p, &out)
	case p.Disabled || d.isDeleted:
		d.removePackage(p, &out)
	default:
		d.deployPackage(p, &out)
	}
	out.Message = oneline.Clean(out.Message, maxMessage)
	return out
}

// sayf sets a status with its reason and a sentence.
func sayf(out *v1alpha1.PackageObservation, status, reason, format string, args ...any) {
	out.Status, out.Reason, out.Message = status, reason, fmt.Sprintf(format, args...)
}

// keepf leaves a package as it was, with a reason and a sentence. Where that is not remembered, its object says it.
func (d *decider) keepf(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation, reason, format string, args ...any) {
	was, o := d.was[p.Name], d.objects[keyOf(p)]
	if was.Status == "" && o != nil {
		earlier := *p
		earlier.Version, out.Digest = "", o.digest
		d.judgeObject(&earlier, o, out)
		was = *out
	}
	sayf(out, cmp.Or(was.Status, v1alpha1.StatusNotDeployed), reason, format, args...)
	out.Digest, out.Revision, out.Commit, out.Ready = was.Digest, was.Revision, was.Commit, was.Ready
}

// act adds an action.
func (d *decider) act(a action) { d.actions = append(d.actions, a) }

// observeExisting reports about a package that another user deploys.
func (d *decider) observeExisting(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) {
	o := d.objects[keyOf(p)]
	if o == nil || o.isDeleting {
		sayf(out, v1alpha1.StatusNotDeployed, v1alpha1.PackageReasonMissing, "%s %s of %s does not exist, and this Bundle does not make it", p.Kind, p.Name, p.Group)
		return
	}
	out.Digest = o.digest
	d.judgeObject(p, o, out)
}

// judgeObject sets the status that follows from the evidence about the digest that is asked for. A package that was deployed stays so while it is not ready.
func (d *decider) judgeObject(p *v1alpha1.BundlePackage, o *object, out *v1alpha1.PackageObservation) {
	e, was := o.evidence, d.was[p.Name]
	out.Revision, out.Commit, out.Ready = e.revision, e.commit, e.ready
	wasDeployed := was.Status == v1alpha1.StatusSuccess && was.Digest == out.Digest
	switch {
	case e.reported != out.Digest:
		out.Ready = false
		sayf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonInProgress, "%s %s has not taken up the spec yet", p.Kind, p.Name)
	case e.isHeldBack:
		sayf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonSuspended, "%s %s is suspended", p.Kind, p.Name)
	case e.wasRolledBack:
		sayf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonRolledBack, "%s", e.message)
	case e.hasFailed:
		sayf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonFailed, "%s", e.message)
	case e.isDone && e.ready:
		sayf(out, v1alpha1.StatusSuccess, "", "")
		out.Version = p.Version
	case e.isDone && wasDeployed:
		sayf(out, v1alpha1.StatusSuccess, v1alpha1.PackageReasonNotReady, "%s", e.message)
	default:
		sayf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonInProgress, "%s", e.message)
	}
}

// decideLeft decides on an object of this bundle that its spec does not name. It returns what the status says of it.
func (d *decider) decideLeft(key objectKey, o *object) []v1alpha1.PackageObservation {
	out := v1alpha1.PackageObservation{
		Name: key.name, Kind: key.kind, Version: d.was[key.name].Version, Digest: o.digest, Revision: o.evidence.revision, Commit: o.evidence.commit, Ready: o.evidence.ready,
	}
	if _, taken := d.decided[key.name]; taken {
		return nil // Another kind has the name, and says so.
	}
	if heir := d.heir(key); heir != nil && !o.isDeleting {
		d.handOver(o, heir)
		return nil
	}
	sayf(&out, v1alpha1.StatusUnreferenced, v1alpha1.PackageReasonUnreferenced, "it left the Bundle, and is still there: kubectl intent prune removes it")
	switch {
	case o.trouble != "":
		sayf(&out, v1alpha1.StatusFailedRemove, v1alpha1.PackageReasonRemovalBlocked, "%s", o.trouble)
	case o.isDeleting:
		sayf(&out, v1alpha1.StatusRemoving, "", "")
	case o.unreferencedSince == "" && !d.isHeld():
		d.dereference(o)
	}
	out.Message = oneline.Clean(out.Message, maxMessage)
	return []v1alpha1.PackageObservation{out}
}

// isHeld reports whether nothing may be changed.
func (f *facts) isHeld() bool { return f.spec.Suspend && !f.isDeleted }

// handOver lets another bundle own an object.
func (d *decider) handOver(o *object, to *neighbour) {
	if !d.isHeld() {
		d.act(action{verb: verbLabel, object: o, owner: to.bundle})
	}
}

// dereference notes since when no bundle names an object.
func (d *decider) dereference(o *object) {
	d.act(action{verb: verbLabel, object: o, owner: d.bundle, unreferencedSince: d.now.UTC().Format(time.RFC3339)})
}

// statusOfBundle sums up the statuses of the packages that the bundle asks for.
func (d *decider) statusOfBundle() string {
	if d.isDeleted {
		return v1alpha1.StatusRemoving
	}
	failed, pending, deployed := false, false, false
	for _, p := range d.spec.Packages {
		s := d.decided[p.Name]
		failed = failed || s.HasFailed()
		pending = pending || !isSettled(p.Disabled, s)
		deployed = deployed || !slices.Contains([]string{v1alpha1.StatusNotDeployed, v1alpha1.StatusRemoved}, s.Status)
	}
	switch {
	case failed:
		return v1alpha1.StatusFailed
	case !deployed:
		return v1alpha1.StatusNotDeployed
	case pending:
		return v1alpha1.StatusDeploying
	}
	return v1alpha1.StatusSuccess
}

// isSettled reports whether a package is what is asked for.
func isSettled(disabled bool, s v1alpha1.PackageObservation) bool {
	if disabled {
		return s.Status == v1alpha1.StatusNotDeployed || s.Status == v1alpha1.StatusRemoved
	}
	return isDeployed(s) || s.Status == v1alpha1.StatusSuccess && s.Reason == v1alpha1.PackageReasonNotReady
}

// isDeployed reports whether a package runs what is asked for, and is ready.
func isDeployed(s v1alpha1.PackageObservation) bool {
	return s.Status == v1alpha1.StatusSuccess && s.Reason == "" && s.Ready
}

func joinNames(names []string) string { return strings.Join(names, ", ") }
