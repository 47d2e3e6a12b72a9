// This module pins the kinds of Argo CD that tests write as its controllers do.
module github.com/intentplane/intentplane/tools/argocd

go 1.26.0

require github.com/argoproj/argo-cd/v3 v3.4.0
