package gates

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/function/catalog"
)

// PostCheckName is the name of the check that the post check of a deployment becomes.
const PostCheckName = "postCheck"

// Bounds of the times of a check, so that it neither floods a server nor holds a revision up for ever.
const (
	shortestInterval = time.Second
	longestTimeout   = 24 * time.Hour
)

// postCheckDelay is the shortest allowed delay: a script can wait by itself for its prerequisites.
const postCheckDelay = "1s"

const postCheckPath = "spec.gatesConfig.postCheck"

func pathOfCheck(i int) string { return "spec.gatesConfig.checks[" + strconv.Itoa(i) + "]" }

// checkUniqueNames returns an error when two results would have the same name.
func checkUniqueNames(g deploymentv1alpha1.GatesConfig) error {
	for i, c := range g.Checks {
		path := pathOfCheck(i) + ".name"
		if _, isTaken := g.SLOThresholds[c.Name]; isTaken {
			return errors.Errorf("%s: %q is the name of a metric in sloThresholds", path, c.Name)
		}
		if g.PostCheck != nil && c.Name == PostCheckName {
			return errors.Errorf("%s: %q is the name of the post check", path, c.Name)
		}
		if slices.ContainsFunc(g.Checks[:i], func(otherCheck deploymentv1alpha1.Check) bool { return otherCheck.Name == c.Name }) {
			return errors.Errorf("%s: %q is the name of another check", path, c.Name)
		}
	}
	if _, isTaken := g.SLOThresholds[PostCheckName]; isTaken && g.PostCheck != nil {
		return errors.Errorf("%s: is the name of the post check", thresholdPath(PostCheckName))
	}
	return nil
}

// readOwnChecks returns the checks that the deployment declares, and its post check.
func (c *Compiler) readOwnChecks(in Input) ([]declaredCheck, error) {
	out, weight := make([]declaredCheck, 0, len(in.Config.Checks)+1), 0
	for i := range in.Config.Checks {
		check := in.Config.Checks[i].DeepCopy()
		check.Default()
		k, err := kindOfCheck(check)
		if err != nil {
			return nil, errors.Wrap(err, pathOfCheck(i))
		}
		if err := c.readOwnCheck(k, check, in.Places, &weight); err != nil {
			return nil, errors.Wrap(err, pathOfCheck(i))
		}
		out = append(out, declaredCheck{path: pathOfCheck(i), kind: k, fromDeployment: true, Check: *check})
	}
	if p := in.Config.PostCheck; p != nil {
		check := checkOfPostCheck(p.DeepCopy())
		if err := cmp.Or(checkTimeBounds(&check), checkImageRef("image", p.Image), checkScript("script", p.Script)); err != nil {
			return nil, errors.Wrap(err, postCheckPath)
		}
		out = append(out, declaredCheck{path: postCheckPath, kind: jobKind(), Check: check})
	}
	return out, nil
}

// checkOfPostCheck returns the check that a post check stands for: a Job that runs once.
func checkOfPostCheck(p *deploymentv1alpha1.PostCheck) deploymentv1alpha1.Check {
	c := deploymentv1alpha1.Check{
		Name: PostCheckName, Type: typeJob, InitialDelay: postCheckDelay, Count: new(int32(1)), Timeout: p.Timeout,
		Job: &deploymentv1alpha1.JobCheck{Image: p.Image, Script: p.Script, ConfigMapKeyRef: p.ConfigMapKeyRef},
	}
	c.Default()
	return c
}

// readOwnCheck brings a check into the form that a Gate measures, and adds its weight to the sum of the previous checks. It returns an error that names the
// field for a check that could never be measured.
func (c *Compiler) readOwnCheck(k kind, check *deploymentv1alpha1.Check, places []catalog.Place, weight *int) error {
	chosen := func(p catalog.Place) bool { return p.Site.GetName() == check.Site }
	if check.Site != "" && !slices.ContainsFunc(places, chosen) {
		return errors.Errorf("site: %q is not a Site of the deployment", check.Site)
	}
	if k.read != nil {
		if err := k.read(c, check, weight); err != nil {
			return err
		}
	}
	if err := normalizeThreshold(k, check); err != nil {
		return errors.Wrap(err, "threshold")
	}
	return checkTimeBounds(check)
}

// normalizeThreshold converts the threshold of a check to the unit of its value.
func normalizeThreshold(k kind, c *deploymentv1alpha1.Check) error {
	if k.whyNoThreshold != "" {
		if c.Threshold != "" {
			return errors.New(k.whyNoThreshold)
		}
		return nil
	}
	t, err := threshold.Parse(string(c.Threshold))
	if err != nil {
		return err
	}
	if !t.Compares() {
		return errors.Errorf("%q has no comparison: add one, such as <= or >=", c.Threshold)
	}
	if c.Unit == "" && t.Unit() != "" {
		return errors.Errorf("%q is in %s: set unit to the unit of the value", c.Threshold, t.Unit())
	}
	if t, err = t.In(c.Unit); err != nil {
		return err
	}
	c.Threshold = deploymentv1alpha1.Threshold(t.String())
	return nil
}

// checkTimeBounds returns an error for times beyond their bounds, and for measurements that cannot all be made before the timeout.
func checkTimeBounds(c *deploymentv1alpha1.Check) error {
	delay, err := parseDuration("initialDelay", c.InitialDelay)
	if err != nil {
		return err
	}
	interval, err := parseDuration("interval", c.Interval)
	if err != nil {
		return err
	}
	timeout, err := parseDuration("timeout", c.Timeout)
	if err != nil {
		return err
	}
	// Durations and counts are bounded, so this cannot overflow.
	if takes := delay + time.Duration(*c.Count-1)*interval; takes >= timeout {
		return errors.Errorf("timeout: %s is not longer than the %s that initialDelay and the intervals between %d measurements take", timeout, takes, *c.Count)
	}
	return nil
}

func parseDuration(field string, d deploymentv1alpha1.Duration) (time.Duration, error) {
	duration, err := time.ParseDuration(string(d))
	if err != nil || duration < shortestInterval || duration > longestTimeout {
		return 0, errors.Errorf("%s: %q is not between 1s and 24h", field, d)
	}
	return duration, nil
}
