package application

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

const (
	newImage = "registry.example.org/team-a/shop@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	oldImage = "registry.example.org/team-a/shop@sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

var (
	now = metav1.NewTime(time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC))

	// timeOrCounter matches texts that would change a message without a change of state.
	timeOrCounter = regexp.MustCompile(`\d{2}:\d{2}|\d+(\.\d+)?(ms|s|m|h)\b|resourceVersion`)

	allPhases = []v1alpha1.Phase{
		"", v1alpha1.PhasePending, v1alpha1.PhaseBuilding, v1alpha1.PhaseDeploying, v1alpha1.PhaseRunning, v1alpha1.PhaseDegraded, v1alpha1.PhaseFailed,
	}
)

func site(name string, state deliveryv1alpha1.HealthState, available int32) deliveryv1alpha1.SiteHealthState {
	s := deliveryv1alpha1.SiteHealthState{Name: name, State: state, Available: available, Updated: 2, Desired: 2}
	if state == deliveryv1alpha1.HealthUnavailable {
		s.Reason, s.Message = deliveryv1alpha1.HealthReasonCrashLoop, "container shop exits with code 1"
	}
	return s
}

// unreachable returns a Site that cannot be looked at.
func unreachable(name string, counts bool) deliveryv1alpha1.SiteHealthState {
	return deliveryv1alpha1.SiteHealthState{Name: name, State: deliveryv1alpha1.HealthNotObserved, Reason: "ClusterUnreachable", Message: "no answer", CountsAsServing: counts}
}

// running returns the facts about an image that runs at one Site.
func running() *Facts {
	return &Facts{
		Digest: "sha256:spec", Image: newImage, Build: Build{State: BuildNotRequired},
		Deployment: Deployment{
			Name: "shop", Asked: "sha256:new", Reported: "sha256:new", Phase: deploymentv1alpha1.PhaseSucceeded, Outcome: deploymentv1alpha1.OutcomeSucceeded,
			Revision: 3, Verified: 3, Sites: []string{"edge1"}, Ready: true,
		},
		Health: Health{Image: newImage, Sites: []deliveryv1alpha1.SiteHealthState{site("edge1", deliveryv1alpha1.HealthAvailable, 2)}},
	}
}

// built returns the facts about a source whose image runs.
func built() *Facts {
	f := running()
	f.Build = Build{State: BuildSucceeded, Wanted: "sha256:request/c2", Commit: "c2", Built: "sha256:request/c2", Image: newImage}
	return f
}

// change returns facts that were changed.
func change(f *Facts, changes ...func(*Facts)) *Facts {
	for _, do := range changes {
		do(f)
	}
	return f
}

func withSites(sites ...deliveryv1alpha1.SiteHealthState) func(*Facts) {
	return func(f *Facts) {
		f.Health.Sites, f.Deployment.Sites = sites, nil
		for _, s := range sites {
			f.Deployment.Sites = append(f.Deployment.Sites, s.Name)
		}
	}
}

func building(f *Facts) {
	f.Build = Build{State: BuildRunning, Wanted: "sha256:request/c2", Commit: "c2"}
	f.Image, f.Deployment, f.Health = "", Deployment{Name: "shop"}, Health{}
}

// TestFirstDesign has the seven cases of the first design, in its order.
func TestFirstDesign(t *testing.T) {
	noPod := withSites(site("edge1", deliveryv1alpha1.HealthProgressing, 0))
	onePod := withSites(site("edge1", deliveryv1alpha1.HealthAvailable, 1))
	cases := []struct {
		reason   string
		facts    *Facts
		last     v1alpha1.Phase
		want     v1alpha1.Phase
		replicas int32
	}{
		{reason: "1: An image without an available pod is deploying.", facts: change(running(), noPod), want: v1alpha1.PhaseDeploying},
		{reason: "2: An image with one available pod runs.", facts: change(running(), onePod), want: v1alpha1.PhaseRunning, replicas: 1},
		{
			reason: "3: An Application that loses its last pod is deploying again.",
			facts:  change(running(), noPod), last: v1alpha1.PhaseRunning, want: v1alpha1.PhaseDeploying,
		},
		{reason: "4: A source whose build runs is building.", facts: change(built(), building), want: v1alpha1.PhaseBuilding},
		{reason: "5: A source that was built and has no available pod is deploying.", facts: change(built(), noPod), want: v1alpha1.PhaseDeploying},
		{reason: "6: A source that was built and has one available pod runs.", facts: change(built(), onePod), want: v1alpha1.PhaseRunning, replicas: 1},
		{reason: "7: The status shows the number of available pods.", facts: running(), want: v1alpha1.PhaseRunning, replicas: 2},
	}
	for _, tc := range cases {
		t.Run(tc.reason[:1], func(t *testing.T) {
			s := Project(tc.facts, &v1alpha1.ApplicationStatus{Phase: tc.last, SpecDigest: tc.facts.Digest, Image: tc.facts.Image}, now).Status
			if s.Phase != tc.want || s.AvailableReplicas != tc.replicas {
				t.Errorf("\n%s\nProject(...): phase %s with %d replicas, want %s with %d: %s", tc.reason, s.Phase, s.AvailableReplicas, tc.want, tc.replicas, s.Message)
			}
		})
	}
}

func TestPhase(t *testing.T) {
	const available, unavailable = deliveryv1alpha1.HealthAvailable, deliveryv1alpha1.HealthUnavailable
	cases := map[string]struct {
		reason  string
		facts   *Facts
		want    v1alpha1.Phase
		message string
	}{
		"Problem": {
			reason: "A spec that cannot be carried out fails, whatever runs.",
			facts:  change(running(), func(f *Facts) { f.Problem, f.ProblemReason = "spec.route.host: it is wrong", "InvalidSpec" }),
			want:   "Failed", message: "spec.route.host: it is wrong",
		},
		"Missing": {
			reason: "An Application waits for its missing object.",
			facts:  change(running(), func(f *Facts) { f.Missing = "Site edge9 does not exist." }),
			want:   "Pending", message: "Site edge9 does not exist.",
		},
		"NotTakenUp": {
			reason: "A deployment that reports on an earlier spec proves nothing about the present one.",
			facts:  change(running(), func(f *Facts) { f.Deployment.Reported = "sha256:old" }),
			want:   "Pending", message: "IntentDeployment shop has not taken up this spec yet.",
		},
		"DeploymentPending": {
			reason: "An Application is pending while its deployment is.",
			facts: change(running(), func(f *Facts) {
				f.Deployment.Phase, f.Deployment.Outcome, f.Deployment.Message = deploymentv1alpha1.PhasePending, "", "Site edge9 does not exist"
			}),
			want: "Pending", message: "The deployment waits. Site edge9 does not exist",
		},
		"BuildFailed": {
			reason: "A build that failed fails the Application, also while the image before it serves.",
			facts: change(built(), func(f *Facts) {
				f.Build.Wanted, f.Build.State, f.Build.Commit, f.Build.Reason, f.Build.Message = "sha256:request/c3", BuildFailed, "c3", "BuildFailed", "step build: exit status 2"
			}),
			want: "Failed",
			message: "The build of commit c3 failed: BuildFailed. step build: exit status 2. Push a commit that builds, or set another " +
				"spec.source.trigger to build this one again.",
		},
		"RebuildFailed": {
			reason: "A rebuild that failed does not fail an image of the same commit.",
			facts:  change(built(), func(f *Facts) { f.Build.State = BuildFailed }),
			want:   "Running", message: "The Site serves the image.",
		},
		"NewCommit": {
			reason: "The image of the commit before does not count for a new one.",
			facts: change(built(), func(f *Facts) {
				f.Build.State, f.Build.Wanted, f.Build.Commit = BuildRunning, "sha256:request/c3", "c3"
			}),
			want: "Building", message: "Commit c3 is being built.",
		},
		"NewRequest": {
			reason: "The image of the same commit that was built of another request does not count.",
			facts: change(built(), func(f *Facts) {
				f.Build.State, f.Build.Wanted = BuildWaiting, "sha256:other/c2"
				f.Build.Reason = "Queued"
			}),
			want: "Building", message: "The build waits: Queued",
		},
		"SourceUnknown": {
			reason: "A source that was not observed is not built.",
			facts:  change(built(), building, func(f *Facts) { f.Build = Build{} }),
			want:   "Building", message: "The source was not observed yet.",
		},
		"BuiltNotHandedOver": {
			reason: "An image that was built and is not handed over yet is not deployed.",
			facts:  change(built(), func(f *Facts) { f.Image = oldImage }),
			want:   "Building", message: "The source was not observed yet.",
		},
		"RolledBack": {
			reason: "A revision that was rolled back degrades the Application.",
			facts: change(running(), func(f *Facts) {
				f.Deployment.Outcome, f.Deployment.Message = deploymentv1alpha1.OutcomeRolledBack, "Gate error_rate failed"
			}),
			want: "Degraded", message: "The revision was rolled back. Gate error_rate failed.",
		},
		"DeploymentFailed": {
			reason: "A deployment that failed fails the Application, and its message has the reason of the pods.",
			facts: change(running(), withSites(site("edge1", unavailable, 0)), func(f *Facts) {
				f.Deployment.Phase, f.Deployment.Outcome, f.Deployment.Message = deploymentv1alpha1.PhaseFailed, deploymentv1alpha1.OutcomeFailed, "Nothing to roll back to"
			}),
			want: "Failed",
			message: "The deployment failed. Nothing to roll back to. 0 of 1 Sites serve the image. Site edge1: CrashLoopBackOff: container shop " +
				"exits with code 1.",
		},
		"Running": {
			reason: "An Application runs that serves at all of its Sites.",
			facts:  change(running(), withSites(site("edge1", available, 2), site("edge2", available, 1))),
			want:   "Running", message: "2 of 2 Sites serve the image.",
		},
		"ScaledToZero": {
			reason: "An Application that is asked for no pods runs without one.",
			facts:  change(running(), withSites(site("edge1", deliveryv1alpha1.HealthScaledToZero, 0))),
			want:   "Running", message: "The Site serves the image.",
		},
		"OneOfTwo": {
			reason: "An Application is degraded that serves at one of two Sites.",
			facts:  change(running(), withSites(site("edge1", available, 2), site("edge2", unavailable, 0))),
			want:   "Degraded", message: "1 of 2 Sites serve the image. Site edge2: CrashLoopBackOff: container shop exits with code 1.",
		},
		"CrashLoop": {
			reason: "A crash loop stays Deploying, with its reason.",
			facts:  change(running(), withSites(site("edge1", unavailable, 0))),
			want:   "Deploying", message: "0 of 1 Sites serve the image. Site edge1: CrashLoopBackOff: container shop exits with code 1.",
		},
		"CrashLoopInDelivery": {
			reason: "The trouble of the pods is in the message before the deployment is verified.",
			facts: change(running(), withSites(site("edge1", unavailable, 0)), func(f *Facts) {
				f.Deployment.Phase, f.Deployment.Outcome, f.Deployment.Message = deploymentv1alpha1.PhaseDelivering, "", "Site edge1 is Syncing"
			}),
			want: "Deploying", message: "The image is being deployed. Site edge1 is Syncing. Site edge1: CrashLoopBackOff: container shop exits with code 1.",
		},
		"NotVerified": {
			reason: "Pods of an image that is not verified do not make it run.",
			facts:  change(running(), func(f *Facts) { f.Deployment.Phase, f.Deployment.Outcome = deploymentv1alpha1.PhaseValidating, "" }),
			want:   "Deploying", message: "The image is being deployed.",
		},
		"HealthOfOldImage": {
			reason: "Available pods of the image before do not count for a new one.",
			facts:  change(running(), func(f *Facts) { f.Health.Image = oldImage }),
			want:   "Deploying", message: "It is not known whether the Site serves the image. Site edge1: NotObserved.",
		},
		"SiteNotObserved": {
			reason: "Of a Site of the deployment that the SiteHealth does not have it is not known that it serves.",
			facts:  change(running(), func(f *Facts) { f.Deployment.Sites = []string{"edge1", "edge2"} }),
			want:   "Degraded", message: "1 of 2 Sites serve the image, and of 1 it is not known. Site edge2: NotObserved.",
		},
		"Outage": {
			reason: "An Application whose only Site does not answer any more does not run and has not failed, and its message says that it is not known.",
			facts:  change(running(), withSites(unreachable("edge1", false))),
			want:   "Deploying", message: "It is not known whether the Site serves the image. Site edge1: ClusterUnreachable: no answer.",
		},
		"OutageOfAll": {
			reason: "Of several Sites that do not answer nothing is known.",
			facts:  change(running(), withSites(unreachable("edge1", false), unreachable("edge2", false))),
			want:   "Deploying", message: "It is not known whether the Sites serve the image. Site edge1: ClusterUnreachable: no answer.",
		},
		"OutageBesideTrouble": {
			reason: "A Site with a known trouble is named before one of which nothing is known.",
			facts:  change(running(), withSites(site("edge1", available, 2), unreachable("edge2", false), site("edge3", unavailable, 0))),
			want:   "Degraded", message: "1 of 3 Sites serve the image, and of 1 it is not known. Site edge3: CrashLoopBackOff: container shop exits with code 1.",
		},
		"CountsBeforeSuccess": {
			reason: "A Site that cannot be observed proves nothing about an image whose deployment was not verified.",
			facts: change(running(), withSites(unreachable("edge1", true)), func(f *Facts) {
				f.Deployment.Phase, f.Deployment.Outcome = deploymentv1alpha1.PhaseValidating, ""
			}),
			want: "Deploying", message: "The image is being deployed.",
		},
		"CountsAsServing": {
			reason: "A Site that cannot be looked at serves if its engine reports that, or if it says that this counts.",
			facts:  change(running(), withSites(unreachable("edge1", true))),
			want:   "Running", message: "The Site serves the image.",
		},
		"NoSites": {
			reason: "Of a deployment without Sites it is not known that it serves.",
			facts:  change(running(), withSites()),
			want:   "Deploying", message: "The deployment names no Sites yet.",
		},
		"RouteNotAccepted": {
			reason: "An Application runs without its route, and its message says so.",
			facts: change(running(), func(f *Facts) {
				f.URL = "http://shop.example.org"
				f.Health.Sites[0].Route = &deliveryv1alpha1.RouteHealth{Reason: "RouteNotAccepted", Message: "HTTPRoute team-a/shop: Gateway public: no controller reports on the route"}
			}),
			want: "Running",
			message: "The Site serves the image. Site edge1: RouteNotAccepted: HTTPRoute team-a/shop: Gateway public: no controller reports on " +
				"the route.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Project(tc.facts, &v1alpha1.ApplicationStatus{}, now).Status
			if diff := cmp.Diff([]string{string(tc.want), tc.message}, []string{string(s.Phase), s.Message}); diff != "" {
				t.Errorf("\n%s\nProject(...): phase and message: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// randomFacts returns any facts, of which each piece of evidence may be about the current spec or about another one.
func randomFacts(r *rand.Rand) *Facts {
	choose := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	f := &Facts{Digest: "sha256:spec", Image: choose(newImage, oldImage, ""), URL: choose("", "http://shop.example.org")}
	f.Problem = choose("", "", "", "spec.port: it is wrong")
	f.Missing = choose("", "", "", "A Site is missing.")
	if f.Problem != "" {
		f.ProblemReason = choose(v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonNameTaken)
	}
	f.Build = Build{
		State: BuildState(
			choose(
				string(BuildNotRequired), string(BuildNotRequired), string(BuildWaiting), string(BuildRunning), string(BuildSucceeded),
				string(BuildFailed), string(BuildUnknown),
			),
		),
		Wanted: choose("c2", "c2", ""), Commit: "c2", Built: choose("c1", "c2", ""), Image: choose(newImage, oldImage, ""), Reason: choose("", "Queued"),
	}
	f.Deployment = Deployment{
		Name: "shop", Asked: choose("sha256:new", "sha256:new", ""), Reported: choose("sha256:new", "sha256:old", ""), Ready: r.IntN(2) == 0,
		Phase:   deploymentv1alpha1.Phase(choose("", "Pending", "Delivering", "Validating", "Succeeded", "Succeeded", "Succeeded", "Failed", "RollingBack")),
		Outcome: deploymentv1alpha1.Outcome(choose("", "Succeeded", "Succeeded", "Failed", "RolledBack")), Message: choose("", "It goes on"),
	}
	f.Health.Image = choose(newImage, newImage, oldImage, "")
	for _, name := range []string{"edge1", "edge2"}[:r.IntN(3)] {
		f.Deployment.Sites = append(f.Deployment.Sites, name)
		states := []deliveryv1alpha1.HealthState{"Available", "Available", "Progressing", "Unavailable", "Missing", "OtherImage", "ScaledToZero", "NotObserved"}
		s := site(name, states[r.IntN(len(states))], int32(r.IntN(3)))
		s.AvailableOther, s.CountsAsServing = int32(r.IntN(2)), s.State == "NotObserved" && r.IntN(2) == 0
		if r.IntN(2) == 0 {
			s.Route = &deliveryv1alpha1.RouteHealth{Accepted: r.IntN(2) == 0, Reason: "RouteMissing"}
		}
		if r.IntN(4) > 0 {
			f.Health.Sites = append(f.Health.Sites, s)
		}
	}
	return f
}

// checkEvidence returns why a phase contradicts the evidence about the current spec, or "". It is written apart from the rows.
func checkEvidence(f *Facts, phase v1alpha1.Phase) string {
	isOfBuild := f.Build.State == BuildNotRequired || f.Build.Built == f.Build.Wanted && f.Build.Image == f.Image
	isOfSpec := f.Deployment.Asked != "" && f.Deployment.Reported == f.Deployment.Asked
	pods := f.Health.Image == f.Image && slices.ContainsFunc(f.Health.Sites, func(s deliveryv1alpha1.SiteHealthState) bool {
		return s.State == "Available" || s.State == "ScaledToZero" || s.State == "NotObserved" && s.CountsAsServing
	})
	switch {
	case phase == v1alpha1.PhaseRunning && (!isOfBuild || !isOfSpec || !pods || f.Image == "" || f.Deployment.Outcome != "Succeeded"):
		return "it runs by an old success"
	case phase == v1alpha1.PhaseDegraded && (!isOfBuild || !isOfSpec):
		return "it is degraded by evidence about another request"
	case phase == v1alpha1.PhaseFailed && f.Problem == "" && f.Build.State != BuildFailed && (!isOfBuild || !isOfSpec):
		return "it failed by evidence about another request"
	}
	return ""
}

// TestOldSuccess shows random evidence to the table: no phase follows from a success that is about another spec, commit or image, each change of the
// phase is legal, and the conditions agree with it.
func TestOldSuccess(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 4))
	reached, reasons := map[v1alpha1.Phase]int{}, map[string]bool{}
	for range 50_000 {
		f := randomFacts(r)
		last := &v1alpha1.ApplicationStatus{Phase: allPhases[r.IntN(len(allPhases))], SpecDigest: []string{"sha256:spec", "sha256:before"}[r.IntN(2)], Image: f.Image}
		p := Project(f, last, now)
		reached[p.Status.Phase]++
		if problem := checkEvidence(f, p.Status.Phase); problem != "" {
			t.Fatalf("%s: %s\n%+v", p.Status.Phase, problem, f)
		}
		if p.Status.Message == "" || timeOrCounter.MatchString(p.Status.Message) {
			t.Fatalf("message %q of %+v", p.Status.Message, f)
		}
		checkTransitions(t, last, p.Status)
		checkConditions(t, f, p, reasons)
	}
	if len(reached) != len(allPhases)-1 {
		t.Errorf("phases that some evidence leads to: %v", reached)
	}
	for _, reason := range []string{
		"Available/Serving", "Available/ScaledToZero", "Available/EarlierImage", "Available/NotDelivered", "Available/CrashLoopBackOff",
		"Available/NotObserved", "Routed/Accepted",
		"Built/RebuildFailed", "Built/Built", "Deployed/NameTaken", "Deployed/RolledBack", "Stalled/DeploymentFailed", "Stalled/BuildFailed",
	} {
		if !reasons[reason] {
			t.Errorf("no evidence leads to %s", reason)
		}
	}
}

func checkTransitions(t *testing.T, last, next *v1alpha1.ApplicationStatus) {
	t.Helper()
	from := last.Phase
	for _, step := range next.Transitions {
		if step.From != from || !phaseTable().Legal(step.From, step.To) {
			t.Fatalf("%s -> %s: %+v", last.Phase, next.Phase, next.Transitions)
		}
		from = step.To
	}
	restarted := last.Phase != "" && last.SpecDigest != next.SpecDigest
	if from != next.Phase || restarted && (len(next.Transitions) == 0 || next.Transitions[0].To != v1alpha1.PhasePending) {
		t.Fatalf("%s -> %s: %+v", last.Phase, next.Phase, next.Transitions)
	}
}

func checkConditions(t *testing.T, f *Facts, p Projection, reasons map[string]bool) {
	t.Helper()
	statuses := map[string]corev1.ConditionStatus{}
	for _, c := range p.Conditions {
		statuses[c.Type] = c.Status
		reasons[c.Type+"/"+c.Reason] = true
		if c.Reason == "" || timeOrCounter.MatchString(c.Message) {
			t.Fatalf("%+v: condition %+v", f, c)
		}
	}
	stalled, reconciling := statuses[v1alpha1.TypeStalled] == corev1.ConditionTrue, statuses[v1alpha1.TypeReconciling] == corev1.ConditionTrue
	problem := ""
	switch {
	case len(p.Conditions) != 8 || len(statuses) != 8:
		problem = "not all conditions are there"
	case stalled && reconciling:
		problem = "both Stalled and Reconciling"
	case p.Ready && (stalled || reconciling || p.Status.Phase != v1alpha1.PhaseRunning || statuses[v1alpha1.TypeAvailable] != "True" || statuses[v1alpha1.TypeRouted] != "True" || statuses[v1alpha1.TypeDeployed] != "True"):
		problem = "Ready without evidence"
	case !p.Ready && !stalled && !reconciling:
		problem = "neither Ready nor Stalled nor Reconciling"
	case p.Status.Phase == v1alpha1.PhaseFailed && !stalled:
		problem = "Failed, and not Stalled"
	}
	if problem != "" {
		t.Fatalf("%s: %+v\n%s %v", problem, f, p.Status.Phase, fmt.Sprint(p.Conditions))
	}
}
