package analysis

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/shellscript"
)

// argoJob is a Job of Argo Rollouts, as far as a script can be made of it.
type argoJob struct {
	Spec struct {
		ActiveDeadlineSeconds int64  `json:"activeDeadlineSeconds"`
		BackoffLimit          *int32 `json:"backoffLimit"`

		Template struct {
			Spec struct {
				ServiceAccountName string          `json:"serviceAccountName"`
				RestartPolicy      string          `json:"restartPolicy"`
				Containers         []argoContainer `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type argoContainer struct {
	Image   string    `json:"image"`
	Command []string  `json:"command"`
	Args    []string  `json:"args"`
	Env     []argoEnv `json:"env"`
}

type argoEnv struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (c *converter) convertJobMetric(path string, m argoMetric, check deploymentv1alpha1.Check, values map[string]string) {
	j, field := m.Provider.Job, path+".provider.job.spec"
	c.refuseJobRules(path, m, check)
	pod := field + ".template.spec"
	if n := len(j.Spec.Template.Spec.Containers); n != 1 {
		c.refuseFieldf(pod+".containers", "a Job of a check has one container, and not %d", n)
		return
	}
	container, containerPath := j.Spec.Template.Spec.Containers[0], pod+".containers[0]"
	run := c.programOfContainer(containerPath, container, values)
	if len(run.words) > 0 && !shellscript.CommandCanFail(run.words) {
		c.refuseFieldf(containerPath+".command", "ends with 0 whatever its commands return, so that no revision fails the check")
	}
	check.Type, check.Interval, check.FailureLimit, check.Timeout = typeJob, "", nil, ""
	check.Job = &deploymentv1alpha1.JobCheck{
		Image:              c.fillConstant(containerPath+".image", container.Image, values),
		Script:             run.composeScript(),
		ServiceAccountName: c.fillConstant(pod+".serviceAccountName", j.Spec.Template.Spec.ServiceAccountName, values),
	}
	if s := j.Spec.ActiveDeadlineSeconds; s > 0 {
		check.Timeout = durationText(c.parseCheckDuration(field+".activeDeadlineSeconds", fmt.Sprintf("%ds", s)))
	}
	c.noteMissingShell(containerPath, run.words)
	c.noteJobFields(field, j)
	c.out.Checks = append(c.out.Checks, check)
}

// refuseJobRules refuses rules that a Job that runs once has no use for.
func (c *converter) refuseJobRules(path string, m argoMetric, check deploymentv1alpha1.Check) {
	if check.Count != nil && *check.Count != 1 {
		c.refuseFieldf(path+".count", "a Job of a check runs once, and not %d times", *check.Count)
	}
	if check.FailureLimit != nil && *check.FailureLimit > 0 {
		c.refuseFieldf(path+".failureLimit", "a Job of a check runs once, so that it may not fail")
	}
	if m.SuccessCondition != "" || m.FailureCondition != "" {
		c.refuseFieldf(path+".successCondition", "the exit code of a Job decides")
	}
}

// noteMissingShell adds a note about an image that may have no shell: its own command is not a shell.
func (c *converter) noteMissingShell(path string, words []string) {
	if len(words) > 0 && !shellscript.IsShell(words[0]) {
		c.addNotef(path+".image", "a check runs its script by /bin/sh, and is an error with an image that has no shell, where Argo Rollouts runs the command")
	}
}

// noteJobFields adds notes about the pod and the end of a Job.
func (c *converter) noteJobFields(field string, j *argoJob) {
	c.addNotef(field+".template.spec", "the pod of a check runs in the namespace that the Site has for checks, without root, with a read-only file system, and "+
		"without a token of its ServiceAccount: name Services with their namespaces, such as shop.team-a.svc. A pod whose image cannot be pulled ends the check as "+
		"TimedOut, and is inconclusive in Argo Rollouts")
	if j.Spec.BackoffLimit == nil || *j.Spec.BackoffLimit > 0 {
		c.addNotef(field+".backoffLimit", "the Job of a check is not retried")
	}
	if j.Spec.Template.Spec.RestartPolicy == "OnFailure" {
		c.addNotef(field+".template.spec.restartPolicy", "the container of a check is not started again")
	}
	if j.Spec.ActiveDeadlineSeconds > 0 {
		c.addNotef(field+".activeDeadlineSeconds", "a check that takes longer ends as TimedOut, and as Failed in Argo Rollouts")
		return
	}
	c.addNotef(field+".activeDeadlineSeconds", "is absent, and a check ends after %s", defaultTimeout)
}

// variableName matches the name of a shell variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// shellVariables are the names of variables that a shell sets itself, or cannot set. A program that a shell starts would get other values for them.
func shellVariables() []string {
	return []string{
		"_", "BASHOPTS", "BASHPID", "BASH_ARGV0", "BASH_COMMAND", "BASH_SUBSHELL", "BASH_VERSINFO", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS",
		"LINENO", "OLDPWD", "OPTIND", "PPID", "PWD", "RANDOM", "SECONDS", "SHELLOPTS", "SHLVL", "SRANDOM", "UID",
	}
}

// A program is the command of a container with its arguments, and the variables that it gets, all with their values.
type program struct {
	// exports are lines of a shell that set the variables.
	exports []string

	words []string
}

// programOfContainer returns the program of a container. It has no words if the container has no command.
func (c *converter) programOfContainer(path string, container argoContainer, values map[string]string) program {
	out, variables := program{}, map[string]string{}
	for i, e := range container.Env {
		field := fmt.Sprintf("%s.env[%d]", path, i)
		if !variableName.MatchString(e.Name) || slices.Contains(shellVariables(), e.Name) {
			c.refuseFieldf(field+".name", "%q cannot be the name of a variable that a script sets", e.Name)
		}
		variables[e.Name] = c.expandVariables(field+".value", c.fillConstant(field+".value", e.Value, values), variables)
		out.exports = append(out.exports, "export "+e.Name+"="+quoteForShell(variables[e.Name]))
	}
	if len(container.Command) == 0 {
		c.refuseFieldf(path+".command", "is absent, and only the image has its entry point: name it")
		return out
	}
	for _, part := range []struct {
		field string
		words []string
	}{{path + ".command", container.Command}, {path + ".args", container.Args}} {
		for i, word := range part.words {
			field := fmt.Sprintf("%s[%d]", part.field, i)
			out.words = append(out.words, c.expandVariables(field, c.fillConstant(field, word, values), variables))
		}
	}
	if strings.HasPrefix(out.words[0], "-") {
		c.refuseFieldf(path+".command[0]", "%q begins with a hyphen, so that a shell cannot run it", out.words[0])
	}
	return out
}

// composeScript returns a shell script with the same effect as a program. Each exit code but 0 fails the check, as it fails a Job.
func (p program) composeScript() string {
	return strings.Join(append(p.exports, shellExecLine(p.words)), "\n") + "\n"
}

// shellExecLine returns the line of a script that runs a command as a container does: as a program of its own, and not as a keyword or a builtin of the shell. So a
// script that another shell gets as its argument keeps its "set -e", which has no effect in a command before "||" of the same shell.
func shellExecLine(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		quoted = append(quoted, quoteForShell(word))
	}
	return "(exec " + strings.Join(quoted, " ") + ") || exit 3"
}

// variableReference matches the references that Kubernetes expands in commands, arguments and values of variables, and $$, which stands for $.
var variableReference = regexp.MustCompile(`\$\$|\$\(([^)]*)\)`)

// serviceVariable is a variable about a Service of the namespace, which Kubernetes adds to each container (k8s.io/kubernetes/pkg/kubelet/envvars).
var serviceVariable = regexp.MustCompile(`^[A-Z0-9_]+_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// expandVariables replaces the references to variables of a container as Kubernetes does (k8s.io/kubernetes/third_party/forked/golang/expansion). A reference
// to another name stays: in a script it runs a command.
func (c *converter) expandVariables(field, text string, variables map[string]string) string {
	return variableReference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		name := strings.TrimSuffix(strings.TrimPrefix(found, "$("), ")")
		value, ok := variables[name]
		if ok {
			return value
		}
		if serviceVariable.MatchString(name) {
			c.refuseFieldf(field, "%s is the variable of a Service, which the pods of a check do not get: write its name, such as shop.team-a.svc", found)
		}
		return found
	})
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

func quoteForShell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
