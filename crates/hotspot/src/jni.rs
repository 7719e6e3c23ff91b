//! The few functions of JNI that natives need: texts and numbers come and go as primitive arrays, so that no string has to be translated
//! from and to JNI's own form of UTF-8.

use crate::jvmti::{JavaVm, JniEnv, OK};
use std::ffi::{CStr, c_char, c_int, c_void};

/// A reference to a Java object, local to the native's call; null is Java's null.
pub type Object = *mut c_void;

// Places in the function table, counted from 0.
const EXCEPTION_CLEAR: usize = 17;
const GET_OBJECT_CLASS: usize = 31;
const GET_FIELD_ID: usize = 94;
const GET_LONG_FIELD: usize = 101;
const GET_ARRAY_LENGTH: usize = 171;
const NEW_BYTE_ARRAY: usize = 176;
const NEW_LONG_ARRAY: usize = 180;
const GET_BYTE_ARRAY_REGION: usize = 200;
const SET_BYTE_ARRAY_REGION: usize = 208;
const SET_LONG_ARRAY_REGION: usize = 212;
const GET_JAVA_VM: usize = 219;
const EXCEPTION_CHECK: usize = 228;

/// What a native method was given, for the time of its call.
#[derive(Clone, Copy, Debug)]
pub struct Jni {
    env: JniEnv,
}

impl Jni {
    /// # Safety
    /// `env` must be what HotSpot handed to the native method that runs, on the thread that it runs on.
    pub unsafe fn of(env: JniEnv) -> Jni {
        Jni { env }
    }

    fn function(&self, place: usize) -> *const c_void {
        // SAFETY: HotSpot's environment points to a table of 235 functions.
        unsafe { (**self.env)[place] }
    }

    /// The JVM.
    pub fn vm(&self) -> Option<JavaVm> {
        type GetJavaVm = unsafe extern "C" fn(JniEnv, *mut JavaVm) -> c_int;
        let mut vm = std::ptr::null_mut();
        // SAFETY: jni.h fixes place and type; `vm` is a valid place for the result.
        let code = unsafe {
            std::mem::transmute::<*const c_void, GetJavaVm>(self.function(GET_JAVA_VM))(self.env, &raw mut vm)
        };
        (code == OK && !vm.is_null()).then_some(vm)
    }

    /// A field of the type `long`; 0 of null, or if there is none of this name.
    ///
    /// # Safety
    /// `object` must be null or a Java object.
    pub unsafe fn long_field(&self, object: Object, name: &CStr) -> i64 {
        type GetObjectClass = unsafe extern "C" fn(JniEnv, Object) -> Object;
        type GetFieldId = unsafe extern "C" fn(JniEnv, Object, *const c_char, *const c_char) -> *mut c_void;
        type GetLongField = unsafe extern "C" fn(JniEnv, Object, *mut c_void) -> i64;
        if object.is_null() {
            return 0;
        }
        // SAFETY: jni.h fixes places and types; the field was found in the object's own class, with this type.
        unsafe {
            let class_of =
                std::mem::transmute::<*const c_void, GetObjectClass>(self.function(GET_OBJECT_CLASS));
            let class = class_of(self.env, object);
            let find = std::mem::transmute::<*const c_void, GetFieldId>(self.function(GET_FIELD_ID));
            let field = find(self.env, class, name.as_ptr(), c"J".as_ptr());
            if field.is_null() {
                self.forget_exception();
                return 0;
            }
            let get = std::mem::transmute::<*const c_void, GetLongField>(self.function(GET_LONG_FIELD));
            get(self.env, object, field)
        }
    }

    /// What a `byte[]` holds; nothing for null.
    ///
    /// # Safety
    /// `array` must be null or a `byte[]`.
    pub unsafe fn bytes(&self, array: Object) -> Vec<u8> {
        type GetArrayLength = unsafe extern "C" fn(JniEnv, Object) -> i32;
        type GetByteArrayRegion = unsafe extern "C" fn(JniEnv, Object, i32, i32, *mut u8);
        if array.is_null() {
            return vec![];
        }
        // SAFETY: jni.h fixes places and types; the region is the whole array, and the vector has its length.
        unsafe {
            let length =
                std::mem::transmute::<*const c_void, GetArrayLength>(self.function(GET_ARRAY_LENGTH));
            let length = length(self.env, array);
            let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
            std::mem::transmute::<*const c_void, GetByteArrayRegion>(self.function(GET_BYTE_ARRAY_REGION))(
                self.env,
                array,
                0,
                length,
                bytes.as_mut_ptr(),
            );
            bytes
        }
    }

    /// A new `byte[]`; null where the heap has no room for it.
    pub fn new_bytes(&self, bytes: &[u8]) -> Object {
        self.new_array(NEW_BYTE_ARRAY, SET_BYTE_ARRAY_REGION, bytes)
    }

    /// A new `long[]`; null where the heap has no room for it.
    pub fn new_longs(&self, numbers: &[i64]) -> Object {
        self.new_array(NEW_LONG_ARRAY, SET_LONG_ARRAY_REGION, numbers)
    }

    fn new_array<T: Copy>(&self, new: usize, set: usize, elements: &[T]) -> Object {
        type NewArray = unsafe extern "C" fn(JniEnv, i32) -> Object;
        type SetArrayRegion<T> = unsafe extern "C" fn(JniEnv, Object, i32, i32, *const T);
        let Ok(length) = i32::try_from(elements.len()) else { return std::ptr::null_mut() };
        // SAFETY: jni.h fixes places and types, which the two callers pair with their element's; the region is the whole array.
        unsafe {
            let array = std::mem::transmute::<*const c_void, NewArray>(self.function(new))(self.env, length);
            if array.is_null() {
                self.forget_exception();
            } else {
                std::mem::transmute::<*const c_void, SetArrayRegion<T>>(self.function(set))(
                    self.env,
                    array,
                    0,
                    length,
                    elements.as_ptr(),
                );
            }
            array
        }
    }

    /// No exception is left pending: what failed is a value.
    fn forget_exception(&self) {
        type ExceptionCheck = unsafe extern "C" fn(JniEnv) -> u8;
        type ExceptionClear = unsafe extern "C" fn(JniEnv);
        // SAFETY: jni.h fixes places and types.
        unsafe {
            if std::mem::transmute::<*const c_void, ExceptionCheck>(self.function(EXCEPTION_CHECK))(self.env)
                != 0
            {
                std::mem::transmute::<*const c_void, ExceptionClear>(self.function(EXCEPTION_CLEAR))(
                    self.env,
                );
            }
        }
    }
}
