package mutate

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// scanner collects the checks of one function.
type scanner struct {
	file   *sourceFile
	fn     string
	mark   *Mark // of the whole function, or nil
	checks []Check
}

// block scans every statement of a function of the given type.
func (s *scanner) block(body *ast.BlockStmt, typ *ast.FuncType) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if last(n.Type) != "bool" { // otherwise it is the predicate of a search
				s.block(n.Body, n.Type)
			}
			return false
		case *ast.IfStmt:
			s.conditional(n, typ)
		case *ast.CaseClause:
			s.clause(n, typ)
		case *ast.ReturnStmt:
			s.result(n, typ)
		}
		return true
	})
}

func (s *scanner) conditional(n *ast.IfStmt, typ *ast.FuncType) {
	if refuses(n.Body.List, typ) {
		s.split(n.Cond, token.LOR, "Refuses")
	}
	if other, ok := n.Else.(*ast.BlockStmt); ok && refuses(other.List, typ) {
		s.split(n.Cond, token.LAND, "Holds")
	}
}

// clause scans a case of a switch without a tag.
func (s *scanner) clause(n *ast.CaseClause, typ *ast.FuncType) {
	if !refuses(n.Body, typ) {
		return
	}
	for _, e := range n.List {
		if isCondition(e) {
			s.split(e, token.LOR, "Refuses")
		}
	}
}

// boolean lists the operators with a boolean result.
var boolean = []token.Token{token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}

// isCondition reports whether e can only be a boolean.
func isCondition(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return slices.Contains(boolean, e.Op)
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	case *ast.ParenExpr:
		return isCondition(e.X)
	}
	return false
}

// result scans a returned boolean expression. It ignores a plain name.
func (s *scanner) result(n *ast.ReturnStmt, typ *ast.FuncType) {
	if len(n.Results) == 0 || last(typ) != "bool" {
		return
	}
	value := n.Results[len(n.Results)-1]
	if isError(value) {
		return // a constant failure is the refusal itself
	}
	if isCondition(value) || typ.Results.NumFields() == 1 && isCall(value) {
		s.split(value, token.LAND, "Holds")
	}
}

func isCall(e ast.Expr) bool {
	_, ok := e.(*ast.CallExpr)
	return ok
}

// split puts each operand of op in e behind its own switch.
func (s *scanner) split(e ast.Expr, op token.Token, switched string) {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == op {
		s.split(b.X, op, switched)
		s.split(b.Y, op, switched)
		return
	}
	from, to := s.file.fset.Position(e.Pos()).Offset, s.file.fset.Position(e.End()).Offset
	line := s.file.fset.Position(e.Pos()).Line
	s.checks = append(s.checks, Check{
		File: s.file.name, Line: line, Func: s.fn, Mark: cmp.Or(s.file.marks[line], s.mark),
		Text: strings.Join(strings.Fields(string(s.file.text[from:to])), " "),
		from: from, to: to, switched: switched,
	})
}

// refuses reports whether statements of a function end in a refusal.
func refuses(body []ast.Stmt, typ *ast.FuncType) bool {
	if len(body) == 0 {
		return false
	}
	switch end := body[len(body)-1].(type) {
	case *ast.ReturnStmt:
		return len(end.Results) > 0 && isRefusal(end.Results[len(end.Results)-1], typ)
	case *ast.AssignStmt:
		return isError(end.Rhs[len(end.Rhs)-1])
	}
	return false
}

// isRefusal reports whether a last result refuses: an error, false, or nil if
// the only result of the function is a pointer.
func isRefusal(e ast.Expr, typ *ast.FuncType) bool {
	if id, ok := e.(*ast.Ident); ok {
		switch id.Name {
		case "false":
			return true
		case "nil":
			return len(typ.Results.List) == 1 && strings.HasPrefix(last(typ), "*") && !strings.Contains(last(typ), "Error")
		}
	}
	return isError(e)
}

// isError reports whether e is an error or a refusal, judged by the naming
// conventions of this module.
func isError(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.HasPrefix(e.Name, "err") || e.Name == "refused"
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			id, ok := e.Fun.(*ast.Ident)
			return ok && (id.Name == "clash" || strings.HasPrefix(id.Name, "refuse"))
		}
		return sel.Sel.Name == "Errorf" || sel.Sel.Name == "Reject" || sel.Sel.Name == "fail"
	}
	return false
}

// last returns the type of a function's last result as written, "" if there is no result.
func last(typ *ast.FuncType) string {
	if typ.Results == nil || len(typ.Results.List) == 0 {
		return ""
	}
	return types.ExprString(typ.Results.List[len(typ.Results.List)-1].Type)
}
