// Package ours judges series of answers by the judge of Gates.
package ours

import (
	"context"
	"time"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expression"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/web"
	"github.com/intentplane/intentplane/tools/evaluators"
)

// JudgeAnswers returns the verdict of a Gate with some checks about a series of answers of Prometheus.
func JudgeAnswers(checks []deploymentv1alpha1.Check, answers []evaluators.Answer) (evaluators.Verdict, error) {
	converted := make([]gates.Answer, 0, len(answers))
	for _, a := range answers {
		converted = append(converted, answerOf(a))
	}
	return judge(checks, func(deploymentv1alpha1.Check) ([]gates.Answer, error) { return converted, nil })
}

func answerOf(a evaluators.Answer) gates.Answer {
	switch a.Kind {
	case evaluators.Unanswered, evaluators.Redirect:
		return gates.Answer{Problem: string(a.Kind), Unavailable: true}
	case evaluators.RefusedQuery, evaluators.Warning, evaluators.Histogram:
		return gates.Answer{Problem: string(a.Kind)}
	}
	return gates.Answer{Values: a.Values()}
}

// expressions caches the expressions of checks.
var expressions = expression.NewReader(16 << 20)

// JudgeWeb returns the verdict of a Gate with some checks about a series of answers of a web server.
func JudgeWeb(checks []deploymentv1alpha1.Check, answers []evaluators.WebAnswer) (evaluators.Verdict, error) {
	return judge(checks, func(c deploymentv1alpha1.Check) ([]gates.Answer, error) {
		address, err := web.Address(c.Web.URL)
		if err != nil {
			return nil, err
		}
		out := make([]gates.Answer, 0, len(answers))
		for _, a := range answers {
			q, err := web.NewQuestion(server{answer: a}, expressions, address, c.Web.Expression)
			if err != nil {
				return nil, err
			}
			out = append(out, q.Ask(context.Background(), time.Hour))
		}
		return out, nil
	})
}

// A server gives one answer.
type server struct {
	answer evaluators.WebAnswer
}

// Do returns the answer.
func (s server) Do(context.Context, fetch.Request) (fetch.Answer, error) {
	return fetch.Answer{Status: s.answer.Status, ContentType: s.answer.ContentType, Body: []byte(s.answer.Body)}, nil
}

func judge(checks []deploymentv1alpha1.Check, ask func(c deploymentv1alpha1.Check) ([]gates.Answer, error)) (evaluators.Verdict, error) {
	results := make([]rolloutv1alpha1.CheckResult, 0, len(checks))
	for _, c := range checks {
		answers, err := ask(c)
		if err != nil {
			return evaluators.None, err
		}
		phase, err := judgeCheck(c, answers)
		if err != nil {
			return evaluators.None, err
		}
		results = append(results, rolloutv1alpha1.CheckResult{Name: c.Name, Phase: phase})
	}
	return evaluators.Verdict(gates.Verdict(results)), nil
}

// judgeCheck returns the phase of a check after a series of answers. An outage does not count, and stops the clock of the check.
func judgeCheck(c deploymentv1alpha1.Check, answers []gates.Answer) (rolloutv1alpha1.CheckPhase, error) {
	c.Default()
	rules, err := gates.RulesOf(c)
	if err != nil {
		return "", err
	}
	limit, err := threshold.Parse(string(c.Threshold))
	if err != nil {
		return "", err
	}
	criteria, tally := gates.Criteria{Limit: limit, MinSamples: int64(*c.MinSamples), NoData: c.NoData}, gates.Tally{}
	var measured time.Duration
	for _, a := range answers {
		if a.Unavailable {
			continue
		}
		tally = tally.Add(criteria.Measure(a))
		if j := gates.Judge(rules, tally, measured); j.Ended() {
			return j.Phase, nil
		}
		measured += rules.Interval
	}
	return rolloutv1alpha1.CheckRunning, nil
}
