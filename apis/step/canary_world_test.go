package step

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/ledger"
)

// The world of a canary: Sites with pods in two tracks behind a gateway, as far as requests depend on them. A tick is a second.

const (
	// drainTicks is how long a track has to be without requests before its pods may change.
	drainTicks = 6
	// gatewayLag is how long a gateway takes at most to apply accepted weights.
	gatewayLag = 4
	// timeoutTicks is how long a Site may take to be live.
	timeoutTicks = 60
)

// tracksInOrder are all that a directory may have.
var tracksInOrder = []string{ledger.TrackBlue, ledger.TrackGreen, ledger.TrackPlain}

// A build is the content of pods, regardless of the number of the revision.
type build struct {
	Content  string
	Replicas int
}

// isBroken is true for a build whose pods are never ready.
func (b build) isBroken() bool { return strings.HasSuffix(b.Content, "z") }

// A folder is one track of a directory.
type folder struct {
	Revision int64
	Build    build
	Size     int
	Weight   int32
}

// pods are the bytes of a folder about pods.
type pods struct {
	Build build
	Size  int
}

func (f folder) pods() pods { return pods{Build: f.Build, Size: f.Size} }

// A canaryDirectory is the directory of a Site in Git: its tracks by their names. A directory without tracks has the plain one alone.
type canaryDirectory map[string]folder

// isFlat is true for a directory without tracks.
func (d canaryDirectory) isFlat() bool {
	_, isPlain := d[ledger.TrackPlain]
	return isPlain && len(d) == 1
}

// folderOf returns a folder of a directory, if it has folders.
func (d canaryDirectory) folderOf(t string) (folder, bool) {
	f, ok := d[t]
	return f, ok && !d.isFlat()
}

func (d canaryDirectory) equal(o canaryDirectory) bool { return maps.Equal(d, o) }

// name is the id of the tree.
func (d canaryDirectory) name() string {
	out := &strings.Builder{}
	for _, t := range tracksInOrder {
		if f, ok := d[t]; ok {
			fmt.Fprintf(out, "%s=%d/%d@%d ", t, f.Revision, f.Size, f.Weight)
		}
	}
	return out.String()
}

// aloneDirectory is the directory in which a revision is alone.
func aloneDirectory(track string, revision int64, b build) canaryDirectory {
	return canaryDirectory{cmp.Or(track, ledger.TrackPlain): {Revision: revision, Build: b, Size: b.Replicas, Weight: 100}}
}

// A pod serves requests while it is ready and not dying.
type pod struct {
	track   string
	build   build
	readyAt int
	dying   bool
}

// A canarySite is a cluster, its engine and its gateway.
type canarySite struct {
	name string
	// directory in Git, how often it changed, and the last positions that gave each track requests, and that changed its folder.
	git             canaryDirectory
	changes         int
	weighed, placed map[string]ledger.Position
	// fetched is the directory that the engine applies next, and applied the last applied one.
	fetched, applied        canaryDirectory
	fetchedAt, appliedAt    int
	isStuck, isGatewayStuck bool
	// accepted are the weights that the gateway accepted, and effective the weights in force.
	accepted, effective map[string]int32
	effectiveAt         int
	// idleSince is when a track was last without requests: it has had none since.
	idleSince map[string]int
	pods      []pod
	made      map[string]int
	// hasServed is true if the Site served all requests once. Before, there is nothing that a commit could break.
	hasServed bool
	// beganAnew says that a track took over from pods without tracks of which nothing was verified, so that these do not count.
	beganAnew bool
	// replicas is how many pods a track needs for all requests.
	replicas map[string]int
}

func newCanarySite(name string) *canarySite {
	return &canarySite{
		name: name, git: canaryDirectory{}, weighed: map[string]ledger.Position{}, placed: map[string]ledger.Position{},
		idleSince: map[string]int{}, made: map[string]int{}, replicas: map[string]int{},
	}
}

func weightsOf(d canaryDirectory) map[string]int32 {
	out := map[string]int32{}
	for t, f := range d {
		out[t] = f.Weight
	}
	return out
}

// fetch lets the engine read Git, and apply lets it apply the directory that it read last.
func (s *canarySite) fetch() { s.fetched, s.fetchedAt = s.git, s.changes }

func (s *canarySite) apply() {
	if !s.isStuck && s.fetchedAt > s.appliedAt {
		s.applied, s.appliedAt = s.fetched, s.fetchedAt
	}
}

// tick lets a second pass: the gateway follows the routes, and the controllers of Kubernetes the Deployments.
func (s *canarySite) tick(now int, random func(int) int) {
	if want := weightsOf(s.applied); !s.isGatewayStuck && !maps.Equal(s.accepted, want) {
		s.accepted, s.effectiveAt = want, now+random(gatewayLag)
	}
	if now >= s.effectiveAt && !maps.Equal(s.effective, s.accepted) {
		s.effective = s.accepted
	}
	for _, t := range tracksInOrder {
		if s.effective[t] > 0 {
			s.idleSince[t] = now + 1
		}
		s.roll(t, now, random)
	}
	s.pods = slices.DeleteFunc(s.pods, func(p pod) bool { return p.dying })
}

// roll acts as the controllers for a track: pods of another build are replaced one by one, as many as may be missing: none.
func (s *canarySite) roll(t string, now int, random func(int) int) {
	want, alive, ready, old := s.applied[t], 0, 0, -1
	fresh := 0
	for i, p := range s.pods {
		if p.track != t || p.dying {
			continue
		}
		alive++
		if now >= p.readyAt {
			ready++
		}
		if p.build.Content != want.Build.Content {
			old = i
			continue
		}
		fresh++
	}
	switch {
	case want.Revision == 0:
		s.kill(t, alive)
	case old >= 0 && (ready > want.Size || now < s.pods[old].readyAt):
		s.pods[old].dying = true
	case fresh < want.Size && alive <= want.Size:
		s.create(t, want.Build, now, random)
	case old < 0 && fresh > want.Size:
		s.kill(t, 1)
	}
}

// kill lets pods of a track die, those first that are not ready.
func (s *canarySite) kill(t string, n int) {
	order := slices.Clone(s.pods)
	slices.SortStableFunc(order, func(a, b pod) int { return b.readyAt - a.readyAt })
	for _, victim := range order {
		i := slices.IndexFunc(s.pods, func(p pod) bool { return !p.dying && p == victim && p.track == t })
		if n > 0 && i >= 0 {
			s.pods[i].dying = true
			n--
		}
	}
}

// never is when pods of a broken build are ready.
const never = 1 << 30

func (s *canarySite) create(t string, b build, now int, random func(int) int) {
	readyAt := now + 1 + random(4)
	if b.isBroken() {
		readyAt = never
	}
	s.made[t+b.Content]++
	s.pods = append(s.pods, pod{track: t, build: b, readyAt: readyAt})
}

// readyPods counts the pods of a track that serve requests. A build of "" means any.
func (s *canarySite) readyPods(t, content string, now int) int {
	n := 0
	for _, p := range s.pods {
		if p.track == t && !p.dying && now >= p.readyAt && (content == "" || p.build.Content == content) {
			n++
		}
	}
	return n
}

// isAvailable is true if the Deployments of a track are available, with the build that the engine applied, and no pod of an earlier build is left, ready or not.
func (s *canarySite) isAvailable(t string, now int) bool {
	f := s.applied[t]
	isEarlier := func(p pod) bool { return p.track == t && !p.dying && p.build.Content != f.Build.Content }
	return f.Revision != 0 && s.readyPods(t, f.Build.Content, now) >= f.Size && !slices.ContainsFunc(s.pods, isEarlier)
}

// needs is how many pods a share of the requests needs.
func needs(replicas int, weight int32) int {
	if weight == 0 || replicas == 0 {
		return 0
	}
	return max(1, (replicas*int(weight)+99)/100)
}

// check returns the error in the requests of a Site, or "".
func (s *canarySite) check(now int) string {
	for t, weight := range s.effective {
		if weight == 0 {
			continue
		}
		replicas := s.applied[t].Build.Replicas
		if weight == 100 && replicas > s.replicas[t] && s.readyPods(t, "", now) < replicas {
			replicas = s.replicas[t] // A user who asks for more pods gets them one by one.
		}
		s.replicas[t] = replicas
		isEnough := s.readyPods(t, "", now) >= max(1, needs(replicas, weight))
		s.hasServed = s.hasServed || isEnough && weight == 100 && (t != ledger.TrackPlain || !s.beganAnew)
		if ready := s.readyPods(t, "", now); !isEnough && s.hasServed {
			return fmt.Sprintf("N1: at %s track %s gets %d percent and has %d pods of %d", s.name, t, weight, ready, replicas)
		}
	}
	return ""
}
