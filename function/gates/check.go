package gates

import (
	"slices"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/function/catalog"
)

// PostCheckName is the name of the check that the post check of a deployment becomes.
const PostCheckName = "postCheck"

// Types of checks.
const (
	typePrometheus = "Prometheus"
	typeJob        = "Job"
)

// Bounds of the times of a check, so that it neither floods a server nor holds a revision up for ever.
const (
	shortestInterval = time.Second
	longestTimeout   = 24 * time.Hour
)

// postCheckDelay is the shortest one: a script knows itself what it has to wait for.
const postCheckDelay = "1s"

const postCheckPath = "spec.gatesConfig.postCheck"

func checkPath(i int) string { return "spec.gatesConfig.checks[" + strconv.Itoa(i) + "]" }

// checkNames returns an error when two results could not be told apart.
func checkNames(g deploymentv1alpha1.GatesConfig) error {
	for i, c := range g.Checks {
		path := checkPath(i) + ".name"
		if _, taken := g.SLOThresholds[c.Name]; taken {
			return errors.Errorf("%s: %q is the name of a metric in sloThresholds", path, c.Name)
		}
		if g.PostCheck != nil && c.Name == PostCheckName {
			return errors.Errorf("%s: %q is the name of the post check", path, c.Name)
		}
		if slices.ContainsFunc(g.Checks[:i], func(other deploymentv1alpha1.Check) bool { return other.Name == c.Name }) {
			return errors.Errorf("%s: %q is the name of another check", path, c.Name)
		}
	}
	if _, taken := g.SLOThresholds[PostCheckName]; taken && g.PostCheck != nil {
		return errors.Errorf("%s: is the name of the post check", thresholdPath(PostCheckName))
	}
	return nil
}

// ownChecks are the checks that the deployment says itself, and its post check.
func (c *Compiler) ownChecks(in Input) ([]pathed, error) {
	out, weight := make([]pathed, 0, len(in.Config.Checks)+1), 0
	for i := range in.Config.Checks {
		check := in.Config.Checks[i].DeepCopy()
		check.Default()
		if err := c.own(check, in.Places, &weight); err != nil {
			return nil, errors.Wrap(err, checkPath(i))
		}
		out = append(out, pathed{path: checkPath(i), own: true, Check: *check})
	}
	if p := in.Config.PostCheck; p != nil {
		check := postCheck(p.DeepCopy())
		if err := checkTimes(&check); err != nil {
			return nil, errors.Wrap(err, postCheckPath)
		}
		out = append(out, pathed{path: postCheckPath, Check: check})
	}
	return out, nil
}

// postCheck runs once.
func postCheck(p *deploymentv1alpha1.PostCheck) deploymentv1alpha1.Check {
	once := int32(1)
	c := deploymentv1alpha1.Check{
		Name: PostCheckName, Type: typeJob, InitialDelay: postCheckDelay, Count: &once, Timeout: p.Timeout,
		Job: &deploymentv1alpha1.JobCheck{Image: p.Image, Script: p.Script, ConfigMapKeyRef: p.ConfigMapKeyRef},
	}
	c.Default()
	return c
}

// own brings a check into the form that a Gate measures, and adds what it weighs to what those before it do. It returns an error that
// names its field when nobody could measure it.
func (c *Compiler) own(check *deploymentv1alpha1.Check, places []catalog.Place, weight *int) error {
	chosen := func(p catalog.Place) bool { return p.Site.GetName() == check.Site }
	if check.Site != "" && !slices.ContainsFunc(places, chosen) {
		return errors.Errorf("site: %q is not among the chosen Sites", check.Site)
	}
	if check.Prometheus != nil {
		if err := c.query(check.Prometheus.Query, weight); err != nil {
			return errors.Wrap(err, "prometheus.query")
		}
	}
	if check.Web != nil {
		if _, err := c.expressions.Read(check.Web.Expression); err != nil {
			return errors.Wrap(err, "web.expression")
		}
	}
	if err := limit(check); err != nil {
		return errors.Wrap(err, "threshold")
	}
	return checkTimes(check)
}

// query of a claim's own. All of them together are bounded, before the next one is read.
func (c *Compiler) query(text string, weight *int) error {
	t, err := c.queries.Parse(text)
	if err != nil {
		return err
	}
	if *weight += t.Weight(); *weight > promql.MaxWeight {
		return errors.New("the regular expressions of this query and of those before it take too long to compile")
	}
	return nil
}

// limit brings the threshold of a check into the unit of its value.
func limit(c *deploymentv1alpha1.Check) error {
	if c.Job != nil {
		if c.Threshold != "" {
			return errors.New("a Job has none: the code that it exits with decides")
		}
		return nil
	}
	t, err := threshold.Parse(string(c.Threshold))
	if err != nil {
		return err
	}
	if !t.Compares() {
		return errors.Errorf("%q needs a comparison, such as <= or >=: nothing else says which side is good", c.Threshold)
	}
	if c.Unit == "" && t.Unit() != "" {
		return errors.Errorf("%q is in %s, and unit does not say what the value is in", c.Threshold, t.Unit())
	}
	if t, err = t.In(c.Unit); err != nil {
		return err
	}
	c.Threshold = deploymentv1alpha1.Threshold(t.String())
	return nil
}

// checkTimes returns an error for times that nobody would keep, and for measurements that cannot all be made in time.
func checkTimes(c *deploymentv1alpha1.Check) error {
	delay, err := duration("initialDelay", c.InitialDelay)
	if err != nil {
		return err
	}
	interval, err := duration("interval", c.Interval)
	if err != nil {
		return err
	}
	timeout, err := duration("timeout", c.Timeout)
	if err != nil {
		return err
	}
	// Durations and counts are bounded, so that this is too.
	if takes := delay + time.Duration(*c.Count-1)*interval; takes >= timeout {
		return errors.Errorf("timeout: %s is not longer than the %s that initialDelay and the intervals between %d measurements take", timeout, takes, *c.Count)
	}
	return nil
}

func duration(field string, d deploymentv1alpha1.Duration) (time.Duration, error) {
	is, err := time.ParseDuration(string(d))
	if err != nil || is < shortestInterval || is > longestTimeout {
		return 0, errors.Errorf("%s: %q is not between 1s and 24h", field, d)
	}
	return is, nil
}
