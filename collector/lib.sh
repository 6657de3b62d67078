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

# own_ids: sets own_uid and own_gid to those that this shell acts with. The kernel says them too, and a shell can read
# that without starting anything.
own_ids() {
    own_uid='' own_gid=''
    { while read -r own_word _ own_number _; do
        case $own_word in
        Uid:) own_uid=$own_number ;;
        Gid:) own_gid=$own_number && break ;;
        esac
    done </proc/self/status; } 2>/dev/null || :
    [ -n "$own_uid" ] || own_uid=$(id -u)
    [ -n "$own_gid" ] || own_gid=$(id -g)
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
        own_ids
        put_owner=$own_uid put_group=$own_gid put_mode=644 put_label=new
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

# make_directory PATH OWNER GROUP MODE: with the folders above it. Nobody can look into it before it has its mode.
make_directory() {
    case ${1%/*} in
    '') ;;
    *) mkdir -p -- "${1%/*}" ;;
    esac
    [ -d "$1" ] || mkdir -m 0700 -- "$1"
    set_access "$1" "$2" "$3" "$4"
    label "$1"
}

# put_link TARGET PATH: the new link takes the place of the old one in one step.
put_link() {
    if [ -e "$2" ] && [ ! -L "$2" ]; then fail "$2 is no symlink"; fi
    put_link_staged=$2.suil-$$
    trap 'rm -f -- "$put_link_staged"' EXIT
    trap 'exit 1' HUP INT TERM
    ln -s -- "$1" "$put_link_staged"
    # Without -T a link to a folder would be followed.
    mv -fT -- "$put_link_staged" "$2" 2>/dev/null || ln -sfn -- "$1" "$2"
    label "$2"
}

# with_line PATH LINE MATCH AFTER start|end: prints the file with the line in it, for files that did not exist when
# the plan was made. MATCH and AFTER are extended regular expressions; empty: none.
with_line() {
    # The line may hold a secret, and arguments of a process can be read by everybody.
    with_at=$(printf '%s\n' "$2" | grep -nxF -f - -- "$1" | head -n 1) || :
    if [ -n "$3" ]; then
        with_match=$(grep -nE -e "$3" -- "$1" | head -n 1) || :
        if [ -z "$with_at" ] || [ "${with_match%%:*}" -lt "${with_at%%:*}" ] 2>/dev/null; then with_at=$with_match; fi
    fi
    with_at=${with_at%%:*}
    if [ -n "$with_at" ]; then
        head -n "$((with_at - 1))" -- "$1"
        printf '%s\n' "$2"
        tail -n "+$((with_at + 1))" -- "$1"
        return
    fi
    with_at=''
    if [ -n "$4" ]; then
        with_at=$(grep -nE -e "$4" -- "$1" | tail -n 1) || :
        with_at=${with_at%%:*}
    fi
    if [ -z "$with_at" ]; then
        if [ "$5" = start ]; then with_at=0; else with_at=$(grep -c '' -- "$1") || :; fi
    fi
    with_ends head -n "$with_at" -- "$1"
    printf '%s\n' "$2"
    tail -n "+$((with_at + 1))" -- "$1"
}

# with_block PATH BEGIN END CONTENT present|absent start|end: prints the file with the block in it, or without it.
with_block() {
    with_from=$(grep -nxF -e "$2" -- "$1") || :
    with_to=$(grep -nxF -e "$3" -- "$1") || :
    # Two of a marker make no number, which is refused below.
    with_from=${with_from%":$2"} with_to=${with_to%":$3"}
    if [ -z "$with_from$with_to" ]; then
        if [ "$6" = start ]; then with_to=0; else with_to=$(grep -c '' -- "$1") || :; fi
        with_from=$((with_to + 1))
    elif ! [ "$with_from" -lt "$with_to" ] 2>/dev/null; then
        fail "$1 has not one line $2 and then one line $3"
    fi
    with_ends head -n "$((with_from - 1))" -- "$1"
    if [ "$5" = present ]; then
        printf '%s\n%s%s\n' "$2" "$4" "$3"
    fi
    tail -n "+$((with_to + 1))" -- "$1"
}

# with_ends COMMAND…: its output, with a newline at the end.
with_ends() {
    with_text=$("$@" && printf .)
    with_text=${with_text%.}
    case $with_text in
    '' | *"
") printf %s "$with_text" ;;
    *) printf '%s\n' "$with_text" ;;
    esac
}

# passwd_of USER: prints the line of the account database; status 2 where there is no such user, another where nobody
# knows. Users of a directory are known to getent only.
passwd_of() {
    if need getent; then
        getent passwd "$1"
        return
    fi
    while IFS= read -r passwd_line; do
        case $passwd_line in
        "$1":*)
            printf '%s\n' "$passwd_line"
            return 0
            ;;
        esac
    done </etc/passwd
    return 2
}

# home_of USER [LINES]: sets home, uid and gid; the status is that of passwd_of. LINES are some of the database that are
# at hand already.
home_of() {
    home_newline='
'
    home_line=$home_newline${2:-}
    case $home_line in
    *"$home_newline$1:"*)
        home_line=${home_line#*"$home_newline$1:"}
        home_line=$1:${home_line%%"$home_newline"*}
        ;;
    *) home_line=$(passwd_of "$1") || return $? ;;
    esac
    home_line=${home_line#*:*:}
    uid=${home_line%%:*}
    home_line=${home_line#*:}
    gid=${home_line%%:*}
    home_line=${home_line#*:*:}
    home=${home_line%%:*}
    [ -n "$home" ]
}

# authorize USER BODY LINE: the key of this body stands in the user's authorized_keys as LINE, once; empty: not at
# all. Only a user who owns the folder is followed into it, so nobody is led to write elsewhere.
authorize() {
    home_of "$1" || fail "$1 is no user of this node"
    if [ ! -d "$home" ]; then fail "$home, the home of $1, does not exist"; fi
    if [ -L "$home/.ssh" ] || [ -L "$home/.ssh/authorized_keys" ]; then fail "$home/.ssh is led elsewhere by a symlink"; fi
    authorize_file=$home/.ssh/authorized_keys
    if [ -z "$3" ] && [ ! -f "$authorize_file" ]; then return 0; fi
    if [ ! -d "$home/.ssh" ]; then make_directory "$home/.ssh" "$uid" "$gid" 0700; fi
    authorize_staged=$authorize_file.suil-$$
    trap 'rm -f -- "$authorize_staged"' EXIT
    trap 'exit 1' HUP INT TERM
    (
        umask 077
        set -C
        {
            if [ -f "$authorize_file" ]; then with_ends grep_v "$2" "$authorize_file"; fi
            if [ -n "$3" ]; then printf '%s\n' "$3"; fi
        } >"$authorize_staged"
    )
    if [ -f "$authorize_file" ]; then
        put_file "$authorize_staged" "$authorize_file" - - -
    else
        put_file "$authorize_staged" "$authorize_file" "$uid" "$gid" 0600
    fi
}

# grep_v WORD FILE: the lines without the word; no such line is no failure.
grep_v() {
    grep -vF -e "$1" -- "$2" || [ $? = 1 ]
}

# owed_place: sets owed_file to where this node keeps what it owes; empty where this user has no such place.
owed_place() {
    owed_file=/var/lib/suil/owed
    if [ "${suil_own:-$(id -u)}" = 0 ]; then return 0; fi
    owed_file=${XDG_STATE_HOME:-${HOME:+$HOME/.local/state}}
    owed_base=${XDG_STATE_HOME:-${HOME:-}}
    if [ -n "$owed_base" ] && [ -d "$owed_base" ] && [ -w "$owed_base" ]; then
        owed_file=$owed_file/suil/owed
    else
        owed_file=''
    fi
}

# owe LINES: writes down what this node owes, one `MODULE<tab>RESOURCE<tab>WHY` each; an empty WHY: no longer owed. The
# file is there only while something is owed.
owe() {
    owed_place
    if [ -z "$owed_file" ]; then return 0; fi
    owe_tab=$(printf '\t')
    owe_end='
'
    owe_left='' owe_new=''
    if [ -f "$owed_file" ]; then
        while IFS= read -r owe_line; do
            owe_why=${owe_line#*"$owe_tab"*"$owe_tab"}
            case "$owe_end$1" in
                *"$owe_end${owe_line%"$owe_why"}"*) ;;
                *) owe_left=$owe_left$owe_line$owe_end ;;
            esac
        done <"$owed_file"
    fi
    owe_rest=$1
    while [ -n "$owe_rest" ]; do
        owe_line=${owe_rest%%"$owe_end"*}
        owe_rest=${owe_rest#*"$owe_end"}
        case $owe_line in *"$owe_tab") ;; *) owe_new=$owe_new$owe_line$owe_end ;; esac
    done
    if [ -z "$owe_left$owe_new" ]; then
        rm -f -- "$owed_file"
        rmdir -- "${owed_file%/*}" 2>/dev/null || :
        return 0
    fi
    mkdir -p -- "${owed_file%/*}"
    chmod 700 -- "${owed_file%/*}"
    (
        umask 077
        printf %s "$owe_left$owe_new" >|"$owed_file.new"
    )
    mv -f -- "$owed_file.new" "$owed_file"
}
