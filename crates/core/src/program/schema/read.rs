//! Statements → tables.

use std::collections::BTreeMap;

use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, CheckConstraint, ColumnDef, ColumnOption,
    ConstraintCharacteristics, CreateIndex, CreateTable, CreateView, DataType, DeferrableInitial, Expr,
    ForeignKeyConstraint, GeneratedAs, Ident, IndexColumn, ReferentialAction, Statement, TableConstraint,
    UserDefinedTypeRepresentation,
};

use super::{Action, Check, Column, ColumnType, DefaultValue, ForeignKey, Key, Schema, Table, TypeKind, View};
use crate::program::access;
use crate::program::diagnostic::Diagnostic;
use crate::program::front::Unit;
use crate::program::ir::Span;
use crate::program::located::{Language, Located, last_plain, plain};
use crate::{sql, suggest};

/// Collects definitions, one statement after the other.
pub(crate) struct Reader {
    pub(super) schema: Schema,
    pub(super) language: Language,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The values of enumerations that have a name, by their plain names.
    enumerations: BTreeMap<String, Vec<String>>,
}

impl Reader {
    /// Definitions are added to those of `schema`.
    pub(crate) fn new(schema: Schema, language: Language) -> Reader {
        Reader { schema, language, diagnostics: Vec::new(), enumerations: BTreeMap::new() }
    }

    /// The schema, and what could not be read.
    pub(crate) fn finish(mut self) -> (Schema, Vec<Diagnostic>) {
        self.resolve_enumerations();
        self.resolve_foreign_keys();
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        (self.schema, self.diagnostics)
    }

    /// Takes note of a statement, if it defines something.
    pub(crate) fn unit(&mut self, unit: &Unit<'_>) {
        let word = |at: usize| unit.tokens.get(at).map(|token| token.text.to_lowercase()).unwrap_or_default();
        let is_definition = match word(0).as_str() {
            "create" if word(1) == "type" => (2..8).map(word).any(|word| word == "enum"),
            "create" => (1..6).map(word).any(|word| ["table", "index", "view"].contains(&word.as_str())),
            // What else ALTER TABLE can do (OWNER, DISABLE KEYS, …) says nothing about rows.
            "alter" => {
                let changes = ["add", "alter", "modify", "change", "drop"];
                word(1) == "table" && (2..9).map(word).any(|word| changes.contains(&word.as_str()))
            }
            _ => false,
        };
        if !is_definition || unit.is_routine() {
            return;
        }
        let located = Located::verbatim(unit.text, unit.span);
        match located.parse(self.language) {
            Ok(statement) => self.statement(&statement, &located),
            Err(complaint) if unit.is_create_table() => self.elements(unit, complaint),
            Err(complaint) => self.diagnostics.push(complaint),
        }
    }

    fn statement(&mut self, statement: &Statement, located: &Located) {
        match statement {
            Statement::CreateTable(create) => self.create_table(create, located),
            Statement::CreateIndex(index) => self.create_index(index, located),
            Statement::AlterTable(alter) => self.alter_table(alter, located),
            Statement::CreateView(view) => self.create_view(view, located),
            Statement::CreateType { name, representation: Some(UserDefinedTypeRepresentation::Enum { labels }) } => {
                self.enumerations.insert(last_plain(name), labels.iter().map(|label| label.value.clone()).collect());
            }
            _ => {}
        }
    }

    fn create_table(&mut self, create: &CreateTable, located: &Located) {
        let span = located.span(&create.name);
        if create.query.is_some() || create.like.is_some() || create.inherits.is_some() {
            let message = "a table that is made from another one is not understood";
            let hint = "write its columns out";
            self.diagnostics.push(Diagnostic::warning(span, message).with_hint(hint));
        }
        let mut table = Table::new(last_plain(&create.name), create.name.to_string(), span);
        for column in &create.columns {
            self.column(&mut table, column, located);
        }
        for constraint in &create.constraints {
            self.constraint(&mut table, constraint, located);
        }
        self.add(table);
    }

    /// A finished table.
    pub(super) fn add(&mut self, mut table: Table) {
        for column in &mut table.columns {
            column.nullable &= !table.primary_key.contains(&column.name);
        }
        if let Some(first) = self.schema.tables.get(&table.name) {
            let message = format!("the table {} is created again, after line {}", table.name, first.span.line);
            self.diagnostics.push(Diagnostic::warning(table.span, message));
        }
        self.schema.tables.insert(table.name.clone(), table);
    }

    pub(super) fn column(&mut self, table: &mut Table, definition: &ColumnDef, located: &Located) {
        let span = located.name(&definition.name);
        let mut column = Column::new(&definition.name, &definition.data_type, span);
        column.numbered = column.column_type.name.to_lowercase().contains("serial");
        let mut constraints: Vec<TableConstraint> = Vec::new();
        for option in &definition.options {
            match &option.option {
                ColumnOption::PrimaryKey(_) => table.primary_key = vec![column.name.clone()],
                ColumnOption::Unique(key) => {
                    let is_deferred = is_deferred(key.characteristics.as_ref());
                    table.unique_keys.push(Key { columns: vec![column.name.clone()], is_deferred, span });
                }
                ColumnOption::ForeignKey(key) => {
                    let key = foreign_key(key, vec![column.name.clone()], span);
                    table.foreign_keys.push(key);
                }
                ColumnOption::Check(check) => constraints.push(check.clone().into()),
                other => column.option(other),
            }
        }
        table.columns.push(column);
        constraints.iter().for_each(|constraint| self.constraint(table, constraint, located));
    }

    /// A constraint of a table whose columns are known. (A check of a column may mention only that one.)
    pub(super) fn constraint(&mut self, table: &mut Table, constraint: &TableConstraint, located: &Located) {
        let span = located.span(constraint);
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                table.primary_key = columns_of(&key.columns).unwrap_or_default();
                self.check_columns(table, &table.primary_key.clone(), span);
            }
            TableConstraint::Unique(key) => {
                if let Some(columns) = columns_of(&key.columns) {
                    self.check_columns(table, &columns, span);
                    let is_deferred = is_deferred(key.characteristics.as_ref());
                    table.unique_keys.push(Key { columns, is_deferred, span });
                }
            }
            TableConstraint::ForeignKey(key) => {
                let columns: Vec<String> = key.columns.iter().map(plain).collect();
                self.check_columns(table, &columns, span);
                table.foreign_keys.push(foreign_key(key, columns, span));
            }
            TableConstraint::Check(check) => self.check(table, check, located),
            _ => {}
        }
    }

    fn check(&mut self, table: &mut Table, check: &CheckConstraint, located: &Located) {
        let (predicate, diagnostics) = access::check_predicate(table, &check.expr, located);
        self.diagnostics.extend(diagnostics);
        table.checks.push(Check { text: check.expr.to_string(), predicate, span: located.span(check.expr.as_ref()) });
    }

    fn check_columns(&mut self, table: &Table, columns: &[String], span: Span) {
        for column in columns.iter().filter(|column| table.column(column).is_none()) {
            self.diagnostics.push(unknown_column(table, column, span));
        }
    }

    fn create_index(&mut self, index: &CreateIndex, located: &Located) {
        // A partial index says nothing about the other rows.
        let columns = columns_of(&index.columns).filter(|_| index.unique && index.predicate.is_none());
        let Some(columns) = columns else { return };
        let span = located.span(&index.table_name);
        let Some(mut table) = self.existing(&last_plain(&index.table_name), span) else { return };
        self.check_columns(&table, &columns, span);
        table.unique_keys.push(Key { columns, is_deferred: false, span });
        self.schema.tables.insert(table.name.clone(), table);
    }

    fn alter_table(&mut self, alter: &AlterTable, located: &Located) {
        let is_relevant = |operation: &AlterTableOperation| {
            use AlterTableOperation as Op;
            let adds = matches!(operation, Op::AddColumn { .. } | Op::AddConstraint { .. } | Op::DropColumn { .. });
            adds || matches!(operation, Op::AlterColumn { .. } | Op::ModifyColumn { .. } | Op::ChangeColumn { .. })
        };
        if !alter.operations.iter().any(is_relevant) {
            return;
        }
        let Some(mut table) = self.existing(&last_plain(&alter.name), located.span(&alter.name)) else { return };
        for operation in &alter.operations {
            match operation {
                AlterTableOperation::AddConstraint { constraint, .. } => {
                    self.constraint(&mut table, constraint, located);
                }
                AlterTableOperation::AddColumn { column_def, .. } => self.column(&mut table, column_def, located),
                AlterTableOperation::ModifyColumn { col_name, data_type, options, .. } => {
                    change_column(&mut table, col_name, col_name, data_type, options);
                }
                AlterTableOperation::ChangeColumn { old_name, new_name, data_type, options, .. } => {
                    change_column(&mut table, old_name, new_name, data_type, options);
                }
                AlterTableOperation::AlterColumn { column_name, op } => alter_column(&mut table, column_name, op),
                AlterTableOperation::DropColumn { column_names, .. } => {
                    let dropped: Vec<String> = column_names.iter().map(plain).collect();
                    table.columns.retain(|column| !dropped.contains(&column.name));
                }
                _ => {}
            }
        }
        for column in &mut table.columns {
            column.nullable &= !table.primary_key.contains(&column.name);
        }
        self.schema.tables.insert(table.name.clone(), table);
    }

    fn create_view(&mut self, view: &CreateView, located: &Located) {
        let columns = view.columns.iter().map(|column| plain(&column.name)).collect();
        let span = located.span(&view.name);
        self.schema.views.insert(last_plain(&view.name), View { columns, query: view.query.clone(), span });
    }

    /// Takes a table that a later statement changes; the caller puts it back.
    fn existing(&mut self, name: &str, span: Span) -> Option<Table> {
        let table = self.schema.tables.remove(name);
        if table.is_none() && !self.schema.views.contains_key(name) {
            let hint = suggest::hint(name, self.schema.tables.keys().map(String::as_str));
            let message = format!("there is no table {name}");
            self.diagnostics.push(Diagnostic::error(span, message).with_hint(hint.trim_start_matches("; ")));
        }
        table
    }

    /// Columns of an enumeration that has a name.
    fn resolve_enumerations(&mut self) {
        for column in self.schema.tables.values_mut().flat_map(|table| &mut table.columns) {
            let name = column.column_type.name.rsplit('.').next().unwrap_or_default();
            if let Some(values) = self.enumerations.get(&sql::plain_name(name)) {
                column.column_type.kind = TypeKind::Enumeration;
                column.column_type.values = values.clone();
            }
        }
    }

    /// A foreign key without columns refers to the primary key, which may be declared further down.
    fn resolve_foreign_keys(&mut self) {
        let keys: BTreeMap<String, Vec<String>> =
            self.schema.tables.values().map(|table| (table.name.clone(), table.primary_key.clone())).collect();
        let mut unknown = Vec::new();
        for key in self.schema.tables.values_mut().flat_map(|table| &mut table.foreign_keys) {
            match keys.get(&key.table) {
                Some(primary) if key.referred.is_empty() => key.referred = primary.clone(),
                Some(_) => {}
                None => unknown.push((key.span, key.table.clone())),
            }
        }
        for (span, table) in unknown {
            let hint = suggest::hint(&table, keys.keys().map(String::as_str));
            let message = format!("a foreign key refers to the table {table}, which is not created");
            self.diagnostics.push(Diagnostic::error(span, message).with_hint(hint.trim_start_matches("; ")));
        }
    }
}

impl Table {
    /// A table without columns.
    pub(super) fn new(name: String, written: String, span: Span) -> Table {
        Table {
            name,
            written,
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique_keys: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            span,
        }
    }
}

impl Column {
    /// A column of which nothing else is said.
    fn new(name: &Ident, data_type: &DataType, span: Span) -> Column {
        Column {
            name: plain(name),
            written: name.to_string(),
            column_type: ColumnType::parse(&data_type.to_string()),
            nullable: true,
            default: None,
            numbered: false,
            forced: false,
            generated: false,
            span,
        }
    }

    fn option(&mut self, option: &ColumnOption) {
        match option {
            ColumnOption::NotNull => self.nullable = false,
            ColumnOption::Default(value) => self.set_default(value),
            ColumnOption::Identity(_) => self.numbered = true,
            ColumnOption::Generated { generation_expr, generated_as, .. } => {
                self.generated = generation_expr.is_some();
                self.numbered = generation_expr.is_none();
                self.forced = self.numbered && *generated_as == GeneratedAs::Always;
            }
            ColumnOption::DialectSpecific(tokens) => {
                let is_auto = |word: &str| ["AUTO_INCREMENT", "AUTOINCREMENT"].contains(&word);
                self.numbered |= tokens.iter().any(|token| is_auto(&token.to_string().to_uppercase()));
            }
            _ => {}
        }
    }

    fn set_default(&mut self, value: &Expr) {
        let text = value.to_string();
        // What `SERIAL` stands for, as pg_dump writes it.
        self.numbered |= text.to_lowercase().starts_with("nextval(");
        self.default = Some(DefaultValue { value: access::constant(value), text });
    }
}

fn alter_column(table: &mut Table, name: &Ident, operation: &AlterColumnOperation) {
    let Some(column) = table.columns.iter_mut().find(|column| column.name == plain(name)) else { return };
    match operation {
        AlterColumnOperation::SetNotNull => column.nullable = false,
        AlterColumnOperation::DropNotNull => column.nullable = true,
        AlterColumnOperation::SetDefault { value } => column.set_default(value),
        AlterColumnOperation::DropDefault => column.default = None,
        AlterColumnOperation::SetDataType { data_type, .. } => {
            column.column_type = ColumnType::parse(&data_type.to_string());
        }
        AlterColumnOperation::AddGenerated { generated_as, .. } => {
            column.numbered = true;
            column.forced = *generated_as == Some(GeneratedAs::Always);
        }
    }
}

/// MySQL's MODIFY and CHANGE say everything about a column anew, except its keys.
fn change_column(table: &mut Table, old: &Ident, new: &Ident, data_type: &DataType, options: &[ColumnOption]) {
    let Some(column) = table.columns.iter_mut().find(|column| column.name == plain(old)) else { return };
    *column = Column::new(new, data_type, column.span);
    options.iter().for_each(|option| column.option(option));
}

/// `None` for a key of expressions.
fn columns_of(columns: &[IndexColumn]) -> Option<Vec<String>> {
    let column = |column: &IndexColumn| match &column.column.expr {
        Expr::Identifier(name) => Some(plain(name)),
        // `name(10)`: the first characters of a column, as MySQL has it; unique for them, so unique for all.
        Expr::Function(function) => Some(last_plain(&function.name)),
        _ => None,
    };
    columns.iter().map(column).collect()
}

fn foreign_key(key: &ForeignKeyConstraint, columns: Vec<String>, span: Span) -> ForeignKey {
    let action = |action: &Option<ReferentialAction>| match action {
        Some(ReferentialAction::Cascade) => Action::Cascade,
        Some(ReferentialAction::SetNull) => Action::SetNull,
        Some(ReferentialAction::SetDefault) => Action::SetDefault,
        Some(ReferentialAction::Restrict | ReferentialAction::NoAction) | None => Action::Restrict,
    };
    ForeignKey {
        columns,
        table: last_plain(&key.foreign_table),
        referred: key.referred_columns.iter().map(plain).collect(),
        on_delete: action(&key.on_delete),
        on_update: action(&key.on_update),
        is_deferred: is_deferred(key.characteristics.as_ref()),
        span,
    }
}

fn is_deferred(characteristics: Option<&ConstraintCharacteristics>) -> bool {
    characteristics.is_some_and(|one| one.initially == Some(DeferrableInitial::Deferred))
}

fn unknown_column(table: &Table, column: &str, span: Span) -> Diagnostic {
    let hint = suggest::hint(column, table.columns.iter().map(|column| column.name.as_str()));
    let message = format!("the table {} has no column {column}", table.name);
    Diagnostic::error(span, message).with_hint(hint.trim_start_matches("; "))
}
