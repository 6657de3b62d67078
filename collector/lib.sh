# shellcheck shell=sh
# Functions for everything that runs on a node. POSIX sh and coreutils (or busybox) only; safe under `set -eu`.

# need TOOL: true where the command exists.
need() {
    command -v "$1" >/dev/null 2>&1
}

# fail WORDS: ends the script; the words go to whoever reads the operation's output.
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# set_access PATH OWNER GROUP MODE: owner first, since chown clears the setuid bit.
set_access() {
    chown -- "$2:$3" "$1"
    chmod -- "$4" "$1"
}

# put_file STAGED TARGET OWNER GROUP MODE: the staged file takes the place of the target in one step. ACLs, extended
# attributes and SELinux labels of the target are kept where the node has the tools. OWNER `-` keeps owner, group
# and mode too.
put_file() {
    if [ -d "$2" ]; then fail "$2 is a directory"; fi
    put_label=''
    if [ -e "$2" ]; then
        put_owner=$(stat -c '%u' -- "$2")
        put_group=$(stat -c '%g' -- "$2")
        put_mode=$(stat -c '%a' -- "$2")
        keep_attributes "$1" "$2"
    else
        put_owner=$(id -u) put_group=$(id -g) put_mode=644 put_label=new
    fi
    if [ "$3" != - ]; then put_owner=$3 put_group=$4 put_mode=$5; fi
    set_access "$1" "$put_owner" "$put_group" "$put_mode"
    sync -- "$1" 2>/dev/null || sync
    mv -f -- "$1" "$2"
    if [ -n "$put_label" ]; then label "$2"; fi
}

# keep_attributes STAGED TARGET
keep_attributes() {
    if cp --attributes-only --preserve=all -- "$2" "$1" 2>/dev/null; then
        touch -- "$1"
    elif need getfacl && need setfacl; then
        getfacl -p -c -- "$2" 2>/dev/null | setfacl --set-file=- -- "$1" || :
    fi
}

# label PATH: gives a new path the SELinux label that the node's policy names.
label() {
    if need selinuxenabled && need restorecon && selinuxenabled; then
        restorecon -- "$1" || printf 'restorecon failed for %s\n' "$1" >&2
    fi
}

# unchanged PATH SHA256: fails where a file is not the one that the plan was made from; `missing` where there was none.
unchanged() {
    if [ "$2" = missing ]; then
        if [ -e "$1" ]; then fail "$1 came into being after the plan was made"; fi
        return
    fi
    unchanged_sum=$(sha256sum <"$1") || fail "cannot read $1"
    if [ "${unchanged_sum%% *}" != "$2" ]; then fail "$1 changed after the plan was made"; fi
}
