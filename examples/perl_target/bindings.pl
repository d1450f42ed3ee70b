#!/usr/bin/perl
# The operators of a project as a module of Perl: each is a function that makes the call of an operator, for a server.
#
# torchgen-lite gives the operators as JSON on standard input; this gives files and findings on standard output.
use strict;
use warnings;
use JSON::PP;

my %RESERVED = map { $_ => 1 } qw(abs eq exp for if length log my print ref reverse sin sort sqrt sub);

my $export = decode_json(do { local $/; <STDIN> });
die "this program reads version 2 of the export\n" if $export->{version} != 2;

my (@functions, @findings);
for my $op (sort { $a->{name} cmp $b->{name} } @{ $export->{ops} }) {
    my $name = join "_", grep { length } $op->{name}, $op->{overload};
    my $full = "$op->{namespace}::" . join ".", grep { length } $op->{name}, $op->{overload};
    if ($RESERVED{$name}) {
        push @findings, {
            severity => "warning",
            message => "`$name` is a word of Perl: its function is `${name}_`",
            op => $full,
            help => "give it another name",
        };
        $name .= "_";
    }
    push @functions, function_of($name, $full, $op);
}

# The text of a function: it takes arguments by position, then by name, and names those that are missing.
sub function_of {
    my ($name, $full, $op) = @_;
    my @positional = map { $_->{name} } grep { !$_->{kwarg_only} } @{ $op->{arguments} };
    my @needed = map { $_->{name} } grep { !defined $_->{default} } @{ $op->{arguments} };
    my @all = map { $_->{name} } @{ $op->{arguments} };
    my $doc = defined $op->{doc} ? $op->{doc} : $op->{func};
    $doc =~ s/\n/\n# /g;
    return <<"END";
# $doc
sub $name { return _call("$full", [qw(@positional)], [qw(@all)], [qw(@needed)], \@_) }
END
}

my $functions = join "\n", @functions;
my $module = <<"END";
package MyOps;

use strict;
use warnings;

sub _call {
    my (\$op, \$positional, \$all, \$needed, \@given) = \@_;
    my \%named = \@given && ref \$given[-1] eq "HASH" ? \%{ pop \@given } : ();
    die "\$op takes \@{[scalar \@\$positional]} arguments by position\\n" if \@given > \@\$positional;
    \@named{ \@\$positional[0 .. \$#given] } = \@given;
    for my \$name (\@\$needed) {
        die "\$op: `\$name` is missing\\n" unless exists \$named{\$name};
    }
    for my \$name (keys \%named) {
        die "\$op has no `\$name`\\n" unless grep { \$_ eq \$name } \@\$all;
    }
    return { op => \$op, arguments => \\\%named };
}

$functions
1;
END

print JSON::PP->new->canonical->encode({ files => { "MyOps.pm" => $module }, findings => \@findings });
